import { readConfig, type Config } from '../platform/config/config'
import { formatFindings, failure, fine, wordsOf, type DoctorFinding } from './doctor/finding'
import { lookAtJournal } from './doctor/journal'
import {
  lookAtBaseUrl,
  lookAtDataDirectory,
  lookAtDisk,
  lookAtFiles,
  lookAtPayments,
  lookAtProxies,
  lookAtRuntime,
} from './doctor/machine'
import { lookAtMail, lookAtProviders } from './doctor/online'
import { lookAtPort } from './doctor/port'
import { lookAtDatabase, lookAtRedis } from './doctor/stores'
import { runCommand, type CommandOptions } from '../server/command'

const help = `Usage: tollgate doctor [--online] [--json]

Tells what is wrong here, and how to mend it: by the same settings as the server, which may run or not. It
changes nothing, and does not start the embedded database.

  --online     also ask the providers whose keys are set, and the mail server
  --json       the findings, for programs

Exit codes: 0 nothing fails, warnings or not; 1 something fails; 2 not understood.
`

type Look = (
  config: Config,
) => DoctorFinding | DoctorFinding[] | Promise<DoctorFinding | DoctorFinding[]>

/** Turns a check that throws into a finding too. */
async function found(name: string, look: () => ReturnType<Look>): Promise<DoctorFinding[]> {
  try {
    return [await look()].flat()
  } catch (thrown) {
    return [failure(name, `it could not be looked at: ${wordsOf(thrown)}`, 'Mend that first.')]
  }
}

function configFinding(): DoctorFinding | Config {
  try {
    return readConfig(process.env)
  } catch (thrown) {
    return failure('settings', wordsOf(thrown), 'Set it right, and look again.')
  }
}

async function lookAround(isOnline: boolean): Promise<DoctorFinding[]> {
  const here = [lookAtRuntime(process.env), lookAtProxies(process.env), lookAtFiles()]
  const config = configFinding()
  if ('state' in config) return [...here, config]
  const looks: Record<string, Look> = {
    address: lookAtBaseUrl,
    port: lookAtPort,
    'data directory': lookAtDataDirectory,
    disk: lookAtDisk,
    database: lookAtDatabase,
    journal: lookAtJournal,
    redis: lookAtRedis,
    mail: (one) => lookAtMail(one, isOnline),
    payments: lookAtPayments,
    providers: (one) => lookAtProviders(one, isOnline),
  }
  const all = await Promise.all(
    Object.entries(looks).map(([name, look]) => found(name, () => look(config))),
  )
  return [...here, fine('settings', 'they can be read'), ...all.flat()]
}

async function run({ has }: CommandOptions): Promise<number> {
  const findings = await lookAround(has('online'))
  const count = (state: DoctorFinding['state']) =>
    findings.filter((one) => one.state === state).length
  const [failures, warnings] = [count('failure'), count('warning')]
  if (has('json')) process.stdout.write(`${JSON.stringify({ failures, warnings, findings })}\n`)
  else
    process.stdout.write(
      `${formatFindings(findings)}\n${failures} failures, ${warnings} warnings\n`,
    )
  return failures > 0 ? 1 : 0
}

await runCommand({ name: 'doctor', help, flags: ['online'], run })
// A connection that timed out may keep the process alive.
process.exit()
