"use strict";

const { window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function activate() {
  const [command, ...args] = workspace.getConfiguration("phase0").get("server");
  client = new LanguageClient(
    "phase0",
    "Phase 0",
    { command, args },
    { documentSelector: [{ language: "phase0" }] },
  );
  try {
    await client.start();
  } catch (error) {
    window.showErrorMessage(
      `Phase 0: \`${[command, ...args].join(" ")}\` does not start (${error.message}). ` +
        "Install it with pip install 'p0trans[lsp]', or set phase0.server.",
    );
  }
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
