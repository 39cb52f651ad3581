import { LineOutput } from '@tollgate/server/platform/line-output'
import { Transport } from '@tollgate/server/upstream/http/transport'
import { guardOutput } from '@tollgate/server/server/command-output'
import { version } from '../../package.json'
import { Agent } from './agent'
import { formatCheck } from './check'
import { help } from './help'
import { openLog, limitRepeats } from './log'
import { ModelServer } from './model-server'
import { Offer } from './offer'
import { pause } from './pause'
import { readArguments, readSettings, type Settings } from './settings'
import { surveyAll, lookAround, type SurveyPorts } from './survey'
import { Toolbox } from './tools/toolbox'
import { exitCodes } from './reconnect-decision'
import { Secrets, UsageError } from './text'

const confirmEveryMs = 30_000

/** Time limit of the graceful shutdown; it usually takes less. */
const maxShutdownMs = 8000

/**
 * Aborts on a termination signal. The launcher and a terminal may both send one, so a second
 * signal has no further effect; a shutdown that hangs is cut off.
 */
function abortOnSignal(): AbortSignal {
  const stop = new AbortController()
  const end = () => {
    if (stop.signal.aborted) return
    stop.abort()
    setTimeout(() => process.exit(exitCodes.failed), maxShutdownMs).unref()
  }
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, end)
  // A killed launcher cannot forward signals.
  const launcher = Number(process.env['TOLLGATE_LAUNCHER_PID'])
  if (launcher && process.ppid === launcher) {
    setInterval(() => process.ppid !== launcher && end(), 1000).unref()
  }
  return stop.signal
}

/** Serves until a signal, whatever becomes of its output; or checks once. Resolves with the exit code. */
async function run(settings: Settings, secrets: Secrets): Promise<number> {
  // The output of a check has no log lines.
  const fd = settings.isCheck ? 2 : 1
  const lines = new LineOutput(fd, { isImmediate: true })
  try {
    return await serve(settings, { secrets, write: (line) => lines.write(line) })
  } finally {
    await lines.end()
  }
}

interface ServePorts {
  secrets: Secrets
  /** Writes a line of the log. */
  write: (line: string) => void
}

async function serve(settings: Settings, { secrets, write }: ServePorts): Promise<number> {
  const log = limitRepeats(openLog({ isJson: settings.isJson, secrets, write }))
  const hide = (text: string) => secrets.hide(text)
  await using toolbox = new Toolbox(settings.tools, { log, hide })
  const offer = new Offer(settings.servers?.map((one) => new ModelServer(one)) ?? [], toolbox)
  const transport = new Transport()
  const { address, token, proxy } = settings
  const ports = { log, secrets, transport, offer, address }
  const survey: SurveyPorts = { ...ports, environment: process.env }
  const look = () => (settings.servers ? surveyAll(survey) : lookAround(survey))
  if (settings.isCheck) {
    await Promise.all([look(), toolbox.start(() => undefined)])
    const { text, json, hasOffer } = formatCheck(settings, offer)
    process.stdout.write(hide(settings.isJson ? `${JSON.stringify(json)}\n` : text))
    return hasOffer ? exitCodes.done : exitCodes.failed
  }
  const stop = abortOnSignal()
  const agent = new Agent({ ...ports, token, proxy, version })
  void toolbox.start(() => agent.announce())
  await look()
  if (!settings.servers && offer.servers.length === 0 && settings.tools.length === 0) {
    const message = 'No model server runs here. Start one, or name one with --serve.'
    log('warn', 'nothing_found', message)
  }
  void repeatSurvey(stop, async () => {
    await look()
    agent.announce()
  })
  return await agent.run(stop)
}

async function repeatSurvey(stop: AbortSignal, survey: () => Promise<void>): Promise<void> {
  for (await pause(confirmEveryMs, stop); !stop.aborted; await pause(confirmEveryMs, stop))
    await survey()
}

async function main(args: string[]): Promise<number> {
  guardOutput()
  const parsed = readArguments(args)
  if (!parsed) {
    process.stdout.write(help)
    return exitCodes.done
  }
  const secrets = new Secrets()
  return run(readSettings(parsed, process.env, secrets), secrets)
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (thrown) {
  const isKnown = thrown instanceof UsageError
  console.error(isKnown ? `tollgate connect: ${thrown.message}` : thrown)
  process.exitCode = isKnown ? exitCodes.usage : exitCodes.failed
}
// Output is flushed; idle connections and a running survey must not keep the process alive. A failure is reported by the
// guard of the output, after this.
process.stdout.write('', () => setImmediate(() => process.exit()))
