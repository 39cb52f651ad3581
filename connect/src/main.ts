import { version } from '../../package.json'
import { Transport } from '../../server/src/upstream/http/transport'
import { endOnBrokenPipe } from '../../server/src/server/broken-pipe'
import { Agent } from './agent'
import { toldOf } from './check'
import { help } from './help'
import { openLog, sparing } from './log'
import { ModelServer } from './model-server'
import { Offer } from './offer'
import { pause } from './pause'
import { readArguments, readSettings, type Settings } from './settings'
import { askAll, lookAround, type SurveyPorts } from './survey'
import { Toolbox } from './tools/toolbox'
import { exitCodes } from './verdict'
import { Secrets, UsageError } from './words'

const askAgainMs = 30_000

/** Time limit of the graceful shutdown; it usually takes less. */
const mostEndingMs = 8000

/**
 * Aborts on a termination signal. The launcher and a terminal may both send one, so a second
 * signal has no further effect; a shutdown that hangs is cut off.
 */
function untilSignal(): AbortSignal {
  const stop = new AbortController()
  const end = () => {
    if (stop.signal.aborted) return
    stop.abort()
    setTimeout(() => process.exit(exitCodes.failed), mostEndingMs).unref()
  }
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, end)
  // A killed launcher cannot forward signals.
  const launcher = Number(process.env['TOLLGATE_LAUNCHER_PID'])
  if (launcher && process.ppid === launcher) {
    setInterval(() => process.ppid !== launcher && end(), 1000).unref()
  }
  return stop.signal
}

async function serve(settings: Settings, secrets: Secrets): Promise<number> {
  // The output of a check has no log lines.
  const logged = settings.isCheck ? process.stderr : process.stdout
  const write = (line: string) => void logged.write(line)
  const say = sparing(openLog({ isJson: settings.isJson, secrets, write }))
  const hide = (text: string) => secrets.hide(text)
  await using toolbox = new Toolbox(settings.tools, { say, hide })
  const offer = new Offer(settings.servers?.map((one) => new ModelServer(one)) ?? [], toolbox)
  const transport = new Transport()
  const { address, token, proxy } = settings
  const ports = { say, secrets, transport, offer, address }
  const survey: SurveyPorts = { ...ports, environment: process.env }
  const look = () => (settings.servers ? askAll(survey) : lookAround(survey))
  if (settings.isCheck) {
    await Promise.all([look(), toolbox.start(() => undefined)])
    const { text, json, isAnything } = toldOf(settings, offer)
    process.stdout.write(hide(settings.isJson ? `${JSON.stringify(json)}\n` : text))
    return isAnything ? exitCodes.done : exitCodes.failed
  }
  const stop = untilSignal()
  const agent = new Agent({ ...ports, token, proxy, version })
  void toolbox.start(() => agent.announce())
  await look()
  if (!settings.servers && offer.servers.length === 0 && settings.tools.length === 0) {
    const words = 'No model server runs here. Start one, or name one with --serve.'
    say('warn', 'nothing_found', words)
  }
  void askAgain(stop, async () => {
    await look()
    agent.announce()
  })
  return await agent.run(stop)
}

async function askAgain(stop: AbortSignal, ask: () => Promise<void>): Promise<void> {
  for (await pause(askAgainMs, stop); !stop.aborted; await pause(askAgainMs, stop)) await ask()
}

async function main(args: string[]): Promise<number> {
  endOnBrokenPipe()
  const given = readArguments(args)
  if (!given) {
    process.stdout.write(help)
    return exitCodes.done
  }
  const secrets = new Secrets()
  return serve(readSettings(given, process.env, secrets), secrets)
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (thrown) {
  const isKnown = thrown instanceof UsageError
  console.error(isKnown ? `tollgate connect: ${thrown.message}` : thrown)
  process.exitCode = isKnown ? exitCodes.usage : exitCodes.failed
}
// Output is flushed; idle connections and a running survey must not keep the process alive.
process.stdout.write('', () => process.exit())
