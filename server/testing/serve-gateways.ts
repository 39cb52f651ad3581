/**
 * Starts gateways for tests in processes that outlive them (`gateway-hosts.ts`), until its standard input ends. The
 * argument is the bundled server. The first line of its output is the path of a socket: the body of a request is the
 * environment of a gateway as JSON, and the answer lines of JSON, `{"pid": …}`, `{"output": …}`, now and then `{}` and,
 * last, `{"exitCode": …}`. A client that leaves before that kills the gateway.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { GatewayHosts } from './gateway-hosts'

const hosts = new GatewayHosts(process.argv[2] ?? '')
const directory = await mkdtemp(join(tmpdir(), 'tollgate-test-'))
const socket = join(directory, 'gateways')
const Environment = z.record(z.string(), z.string())
const beatMs = 2000
const encoder = new TextEncoder()

function gatewayEvents(environment: Record<string, string>): ReadableStream<Uint8Array> {
  let gateway: ReturnType<GatewayHosts['start']> | undefined
  let beat: NodeJS.Timeout
  return new ReadableStream({
    start(controller) {
      const send = (event: object) =>
        controller.enqueue(encoder.encode(`${JSON.stringify(event)}\n`))
      gateway = hosts.start(environment, {
        onOutput: (output) => gateway && send({ output }),
        onExit(exitCode) {
          if (!gateway) return
          clearInterval(beat)
          send({ exitCode })
          controller.close()
          gateway = undefined
        },
      })
      send({ pid: gateway.pid })
      // A gateway may be silent for as long as its tests take; the listener ends silent answers.
      beat = setInterval(() => send({}), beatMs)
    },
    cancel() {
      clearInterval(beat)
      gateway?.kill('SIGKILL')
      gateway = undefined
    },
  })
}

const listener = Bun.serve({
  unix: socket,
  async fetch(request) {
    return new Response(gatewayEvents(Environment.parse(await request.json())))
  },
})
// A terminal sends signals to all processes of a run; this one ends when the others have.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined)
console.log(socket)
for await (const _ of process.stdin);
hosts.stop()
await listener.stop(true)
await rm(directory, { recursive: true, force: true })
process.exit(0)
