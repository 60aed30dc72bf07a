// Put before a program with --require: writes the names of all script files that were read to the file in LOADED_FILES.
const fs = require('node:fs');

const read = fs.readFileSync;
const names = new Set();
fs.readFileSync = (file, ...rest) => {
  if (typeof file === 'string' && file.endsWith('.js')) names.add(file);
  return read(file, ...rest);
};
process.on('exit', () => {
  const all = [...names, ...Object.keys(require.cache)];
  fs.writeFileSync(process.env.LOADED_FILES, all.join('\n'));
});
