// The entry point of the single executable, as bin/tollgate.mjs is for the sources.
import { askHealth } from './healthy'
import { toBuildVersion } from '../../bin/commit.mjs'
import { agentEnvironment, engineEnvironment, ignoredProxies } from '../../bin/engine.mjs'
import { helpFor } from '../../bin/help.mjs'
import { version } from '../../package.json'
import { packed } from '../../server/src/server/packed-build'

/** Runs the program of all command groups, which reads the group's name from its arguments. */
const operate = (name: string) => {
  process.argv.splice(2, 0, name)
  return import('../../cli/src/main')
}

/** The commands. Each runs when it is imported, and reads its arguments from the same place as in the sources. */
const commands: Readonly<Record<string, (name: string) => Promise<unknown>>> = {
  start: () => import('../../server/src/main'),
  doctor: () => import('../../server/src/commands/doctor'),
  migrate: () => import('../../server/src/commands/migrate'),
  backup: () => import('../../server/src/commands/backup'),
  restore: () => import('../../server/src/commands/restore'),
  audit: () => import('../../server/src/commands/audit'),
  'rotate-keys': () => import('../../server/src/commands/rotate-keys'),
  'sign-in-link': () => import('../../server/src/commands/sign-in-link'),
  users: operate,
  keys: operate,
  credits: operate,
  models: operate,
  connections: operate,
  connect: () => import('../../connect/src/main'),
  healthy: async () => {
    process.exitCode = await askHealth()
  },
}

/** Applies engine settings, which are read at its start only: where they differ, re-executes the same process. */
function settle(name: string): void {
  const { environment, ignored } =
    name === 'connect'
      ? { environment: agentEnvironment(process.env), ignored: [] }
      : engineEnvironment(process.env)
  delete environment['TOLLGATE_LAUNCHER_PID']
  const isSettled = Object.entries(environment).every(([name, it]) => process.env[name] === it)
  if (isSettled && process.env['TOLLGATE_LAUNCHER_PID'] === undefined) return
  if (ignored.length > 0) console.error(ignoredProxies(ignored))
  process.execve?.(process.execPath, [process.execPath, ...process.argv.slice(2)], environment)
}

/** Whether the command is left out, and options of `start` come first. */
const isStartOption = (name: string) =>
  name.startsWith('-') && !['--help', '-h', '--version', '-v'].includes(name)

async function main([name = 'start', ...args]: readonly string[]): Promise<void> {
  if (isStartOption(name)) return main(['start', name, ...args])
  if (name === '--help' || name === '-h') return console.log(helpFor('executable'))
  if (name === '--version' || name === '-v') {
    return console.log(toBuildVersion(version, packed?.commit ?? undefined))
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!command) {
    console.error(`tollgate: There is no command "${name}". See tollgate --help.`)
    process.exitCode = 2
    return
  }
  settle(name)
  process.argv.splice(2, Infinity, ...args)
  await command(name)
}

await main(process.argv.slice(2))
