// Installs the peers of the comparison, each into its own folder of bench/peers.
// Run by: npm run bench peers
import { join } from 'node:path'
import { goPeers, litellmEnvironment } from './subjects/peers'

const folder = join(import.meta.dir, 'peers')

/** Runs a program to its end, and shows its output. Returns true on success. */
async function run(command: string[], cwd: string): Promise<boolean> {
  console.log(`> ${command.join(' ')}`)
  const [program = ''] = command
  if (!program.includes('/') && !Bun.which(program)) {
    console.log(`${program} is not installed.`)
    return false
  }
  const child = Bun.spawn(command, { cwd, stdout: 'inherit', stderr: 'inherit' })
  return (await child.exited) === 0
}

const installed: Record<string, boolean> = {}

const portkey = join(folder, 'portkey')
installed['portkey'] = await run(['npm', 'ci', '--ignore-scripts'], portkey)

const litellm = join(folder, 'litellm')
const pip = [join(litellmEnvironment, 'bin/pip'), 'install', '--quiet', '-r', 'requirements.txt']
installed['litellm'] =
  (await run(['python3', '-m', 'venv', litellmEnvironment], litellm)) && (await run(pip, litellm))

// Nothing is built of them yet: as long as they cannot be downloaded, their start cannot be tested.
for (const [name, module] of Object.entries(goPeers)) {
  const isThere = await run(['go', 'list', '-m', `${module}@latest`], folder)
  installed[name] = false
  if (isThere) console.log(`${module} is available now: add its start to bench/subjects/peers.ts.`)
}
for (const [name, is] of Object.entries(installed)) {
  console.log(`${name}: ${is ? 'installed' : 'not installed'}`)
}
