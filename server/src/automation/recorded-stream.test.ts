import { expect, test } from 'bun:test'
import { RecordedStream } from './recorded-stream'
import { Run } from './message-runs'
import { ClientDisconnected, type ChunkStream } from '../wire/chunk-stream'
import type { JsonObject } from '../wire/json-body'
import { settled } from '../../testing/clock'

const chunk = (content: string, finish_reason: string | null = null) =>
  JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason }] })

/** A stream of `reads`, then silent until the test continues it. */
class Source implements ChunkStream {
  readonly #reads: string[][]
  readonly cancelled: Error[] = []
  isEnded = false

  constructor(...reads: string[][]) {
    this.#reads = reads
  }

  async read(): Promise<string[] | undefined> {
    const chunks = this.#reads.shift()
    if (!chunks) return new Promise<undefined>(() => undefined)
    this.isEnded = chunks.some((text) => text.includes('stop'))
    return chunks
  }

  cancel(reason: Error): void {
    this.cancelled.push(reason)
  }
}

const turn = { runId: 'req_1', sessionId: 'sess_1', userId: 'user_1' }

function record(source: ChunkStream, isStored = Promise.resolve()) {
  const caller = new AbortController()
  const run = new Run(turn, caller.signal, () => undefined)
  const outcomes: unknown[] = []
  const stream = new RecordedStream(source, run, (answer) => {
    outcomes.push(contentOf(answer))
    return isStored
  })
  return { stream, run, caller, outcomes }
}

function contentOf({ choices }: JsonObject): unknown {
  const [choice] = Array.isArray(choices) ? choices : []
  return choice?.message.content
}

test('an answer is kept before its last chunk goes out', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { stream, outcomes } = record(new Source([chunk('Hel')], [chunk('lo', 'stop')]), promise)
  expect(await stream.read()).toHaveLength(1)
  expect(outcomes).toEqual([])
  let isOut = false
  const last = stream.read().then(() => {
    isOut = true
  })
  await settled()
  expect([outcomes, isOut]).toEqual([['Hello'], false])
  resolve()
  await last
})

test('received output is stored once, for any way to disconnect', async () => {
  const source = new Source([chunk('Hel')])
  const { stream, caller, outcomes } = record(source)
  await stream.read()
  stream.cancel(new ClientDisconnected())
  caller.abort()
  stream.cancel(new ClientDisconnected())
  expect(outcomes).toEqual(['Hel'])
  expect(source.cancelled.length).toBeGreaterThan(0)
})

test('a waiting reader sees the end of the session at once', async () => {
  const { stream, run, outcomes } = record(new Source([chunk('Hel')]))
  await stream.read()
  const waiting = stream.read()
  run.cancel()
  await expect(waiting).rejects.toMatchObject({ code: 'gateway_unavailable' })
  await expect(stream.read()).rejects.toMatchObject({ code: 'gateway_unavailable' })
  expect(outcomes).toEqual(['Hel'])
})

test('a broken answer is stored as incomplete, for any earlier end', async () => {
  const call = { index: 0, id: 'call_1', function: { name: 'x', arguments: '{}' } }
  const requestJson = JSON.stringify({
    choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: 'tool_calls' }],
  })
  const broken = new Source([requestJson])
  const read = broken.read.bind(broken)
  let reads = 0
  broken.read = () => (reads++ === 0 ? read() : Promise.reject(new Error('cut')))
  const run = new Run(turn, new AbortController().signal, () => undefined)
  const wholes: boolean[] = []
  const stream = new RecordedStream(
    broken,
    run,
    async (_answer, isComplete) => void wholes.push(isComplete),
  )
  await stream.read()
  await expect(stream.read()).rejects.toThrow('cut')
  expect(wholes).toEqual([false])
})

test('an answer that cannot be stored is a failure', async () => {
  const failure = Promise.reject(new Error('no database'))
  const { stream } = record(new Source([chunk('Hello', 'stop')]), failure)
  await expect(stream.read()).rejects.toThrow('no database')
})
