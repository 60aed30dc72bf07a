/** Saves rules for `PREFIX-0`, `PREFIX-1`, ... Arguments: home, prefix, how many. */
import { saveAllowRule } from '../../src/approvals/index.js';

const [home = '', prefix = '', count = '0'] = process.argv.slice(2);
for (let i = 0; i < Number(count); i++) await saveAllowRule(home, [`${prefix}-${i}`, 'a "b"\n\\']);
