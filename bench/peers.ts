// Installs the peers of the comparison, each into its own folder of bench/peers.
// Run by: npm run bench peers [-- --only smg,ferrogw]
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { listOf } from './compare/options'
import { environmentOf, goPeers, litellmRs, peersFolder, pythonPeers } from './subjects/peers'

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } })
const only = listOf(values.only)

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

async function installFromPyPi(peer: (typeof pythonPeers)[number]): Promise<boolean> {
  const environment = environmentOf(peer)
  const folder = join(peersFolder, peer)
  const pip = [join(environment, 'bin/pip'), 'install', '--quiet', '-r', 'requirements.txt']
  return (await run(['python3', '-m', 'venv', environment], folder)) && run(pip, folder)
}

/** Compiles litellm-rs, which takes a quarter of an hour on two cores. */
async function installLitellmRs(): Promise<boolean> {
  const { version, features, root } = litellmRs
  const what = ['litellm-rs', '--version', version, '--locked', '--bin', 'gateway']
  const how = ['--no-default-features', '--features', features, '--root', root]
  return run(['cargo', 'install', ...what, ...how], peersFolder)
}

/** Nothing is built of them yet: as long as they cannot be downloaded, their start cannot be tested. */
async function lookForGoModule(module: string): Promise<boolean> {
  if (await run(['go', 'list', '-m', `${module}@latest`], peersFolder)) {
    console.log(`${module} is available now: add its start to bench/subjects.`)
  }
  return false
}

const installers: Record<string, () => Promise<boolean>> = {
  portkey: () => run(['npm', 'ci', '--ignore-scripts'], join(peersFolder, 'portkey')),
  ...Object.fromEntries(pythonPeers.map((peer) => [peer, () => installFromPyPi(peer)])),
  'litellm-rs': installLitellmRs,
  ...Object.fromEntries(
    Object.entries(goPeers).map(([name, module]) => [name, () => lookForGoModule(module)]),
  ),
}

const installed: Record<string, boolean> = {}
for (const [name, install] of Object.entries(installers)) {
  if (only.length === 0 || only.includes(name)) installed[name] = await install()
}
for (const [name, is] of Object.entries(installed)) {
  console.log(`${name}: ${is ? 'installed' : 'not installed'}`)
}
