// A provider of the OpenAI format that returns a canned answer by the model's name, counts
// its bill, and does nothing else, so that it is not the bottleneck of a comparison.
import { canned } from './answers'
import type { Bill, Billed } from './bill'
import { Caller, type ReceivedRequest } from './caller'
import { Pace } from './pace'

const bill: Bill = {}
const pace = new Pace()
const nameMark = Buffer.from('"model"')
const notFound = Buffer.from('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n')
const models = Object.keys(canned).map((id) => ({ id, object: 'model', created: 0, owned_by: 'b' }))

function json(value: unknown): Buffer {
  const text = JSON.stringify(value)
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n'
  return Buffer.from(`${head}content-length: ${text.length}\r\n\r\n${text}`)
}

/** Returns the value after the first `"model"`, wherever in the body it is: of JSON, or of a form. */
function modelOf(body: Buffer): string {
  const at = body.indexOf(nameMark)
  if (at < 0) return ''
  const rest = body.toString('latin1', at + nameMark.length, at + nameMark.length + 80)
  const [, inJson, inForm] = /^(?:\s*:\s*"([^"]*)"|\r\n\r\n([^\r]*))/.exec(rest) ?? []
  return inJson ?? inForm ?? ''
}

function billedOf(model: string): Billed {
  return (bill[model] ??= { answers: 0, cut: 0 })
}

/** Answers control requests of the benchmark; undefined for other paths. */
function control(path: string): unknown {
  if (path === '/__bill') return bill
  return path.endsWith('/models') ? { object: 'list', data: models } : undefined
}

function answer(caller: Caller, { path, body }: ReceivedRequest): void {
  const steered = control(path)
  if (steered !== undefined) return caller.write(json(steered))
  const model = modelOf(body)
  const found = canned[model]
  const [first, ...more] = found?.pieces ?? []
  if (!found || !first) return caller.write(notFound)
  billedOf(model).answers++
  if (more.length === 0) return caller.write(first)
  caller.begin(model, found)
  pace.add(caller, found.gapMs)
}

const server = Bun.listen<Caller>({
  hostname: '127.0.0.1',
  port: Number(process.argv[2] ?? 0),
  socket: {
    open(socket) {
      socket.data = new Caller(socket)
    },
    data({ data: caller }, bytes) {
      const request = caller.receive(bytes)
      if (request) answer(caller, request)
    },
    drain: ({ data: caller }) => caller.drain(),
    close({ data: caller }) {
      if (caller.isStreaming) billedOf(caller.model).cut++
      pace.remove(caller)
    },
    error: () => undefined,
  },
})
console.log(`provider on ${server.port}`)
