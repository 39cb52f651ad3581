/**
 * Runs gateways of tests one after the other in one process: most of a gateway's start is loading modules and compiling
 * them. Each line of standard input is the whole environment of one gateway, as JSON. Instead of ending the process, it
 * writes `endMark` to both outputs, with the exit code and a line feed after it. Ends with its input.
 */
import { createInterface } from 'node:readline'
import { runProgram } from '../src/server/program'
import { endMark } from './gateway-hosts'

/** The events of a process on which a gateway acts. */
const endings = ['SIGINT', 'SIGTERM', 'SIGHUP', 'uncaughtException', 'unhandledRejection'] as const

/** Resolves with the exit code of one gateway. */
function runGateway(environment: Record<string, string>): Promise<number> {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, environment)
  return new Promise((resolve) => {
    void runProgram({ startedAt: performance.now(), exit: resolve })
  })
}

for await (const line of createInterface({ input: process.stdin })) {
  const code = await runGateway(JSON.parse(line))
  for (const event of endings) process.removeAllListeners(event)
  for (const stream of [process.stdout, process.stderr]) stream.write(`${endMark}${code}\n`)
}
process.exit(0)
