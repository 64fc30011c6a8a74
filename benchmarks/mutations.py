"""How many wrong emissions the test over the operation table catches.

    python benchmarks/mutations.py [OPERATION...]

Each PyTorch spelling of the table is made wrong in many ways, one at a time: operands swapped, the
operation left out, `keepdim` or `dtype` dropped, a size or an axis off by one, another constant,
word, permutation or dtype, another function of the family. Each wrong operation goes through the
test that holds the table's spellings against its NumPy meanings. What it does not catch is listed,
and makes the exit status 1.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from p0trans.ops import OPERATIONS
from tests.ops.mutations import is_caught, mutants


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("operations", nargs="*", metavar="OPERATION", help="all of them by default")
    names: list[str] = parser.parse_args().operations or list(OPERATIONS)
    for name in names:
        if name not in OPERATIONS:
            parser.error(f"there is no operation '{name}'")
    made = {name: mutants(OPERATIONS[name]) for name in names}
    escaped = [mutant for one in made.values() for mutant in one if not is_caught(mutant)]
    misses = Counter(mutant.operation.name for mutant in escaped)
    print(f"{'operation':<12}{'mutants':>9}{'caught':>9}")
    for name, one in made.items():
        print(f"{name:<12}{len(one):>9}{len(one) - misses[name]:>9}")
    total = sum(map(len, made.values()))
    share = (total - len(escaped)) / total
    print(f"{'all':<12}{total:>9}{total - len(escaped):>9}  {share:.1%}")
    for mutant in escaped:
        print(f"not caught: {mutant.operation.name}, {mutant.what}")
    return 1 if escaped else 0


if __name__ == "__main__":
    sys.exit(main())
