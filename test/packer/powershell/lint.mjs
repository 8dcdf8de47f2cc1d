// Parses PowerShell scripts and fails on what the grammar doesn't take: there
// is no PowerShell on the machines that build this project. It is a grammar
// and no more; what the grammar wrongly rejects is written in another way.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [modules, ...files] = process.argv.slice(2);
const require = createRequire(join(modules, 'node_modules/'));
const { Parser, Language } = require('web-tree-sitter');
await Parser.init();
const parser = new Parser();
parser.setLanguage(await Language.load(join(modules, 'node_modules/tree-sitter-powershell/tree-sitter-powershell.wasm')));

let bad = 0;
function look(file, node) {
  if (node.isError || node.isMissing) {
    bad++;
    console.error(`${file}:${node.startPosition.row + 1}:${node.startPosition.column + 1}: ${node.isMissing ? `${node.type} is missing` : 'not PowerShell'}`);
    return;
  }
  node.children.forEach((child) => look(file, child));
}
for (const file of files) {
  look(file, parser.parse(readFileSync(file, 'utf8')).rootNode);
}
console.log(`${files.length} PowerShell scripts parsed`);
process.exit(bad || !files.length ? 1 : 0);
