import { afterEach, describe, expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import { readBody } from './answer'
import { ConnectionFailed } from './connection-failed'
import { okAnswer, polled, RawPeers, requestTo, timers } from '../../../testing/http/raw-peers'
import { Transport } from './transport'
import { readAnswer, type AnswerReading } from '../../../testing/http-vectors/read-answer'
import type { Vector } from '../../../testing/http-vectors/vector'
import { titleOf, vectors } from '../../../testing/http-vectors/vectors'

const peers = new RawPeers()
afterEach(() => peers[Symbol.dispose]())

const rows = vectors.map((vector) => [titleOf(vector), vector] as const)

/** Places to cut bytes at: all, or those near the ends and some between where there are many. */
function cutsOf({ bytes }: Vector): number[] {
  const all = Array.from({ length: Math.max(bytes.length - 1, 0) }, (_, at) => at + 1)
  if (all.length <= 600) return all
  const step = Math.floor(all.length / 50)
  return all.filter((cut) => cut < 100 || bytes.length - cut < 100 || cut % step === 0)
}

function expectOutcome({ outcome, field }: AnswerReading, vector: Vector, how: string): void {
  expect([how, outcome]).toEqual([how, vector.outcome])
  if (outcome === 'rejected') return
  for (const [name, value] of Object.entries(vector.fields)) {
    expect([how, name, field(name)]).toEqual([how, name, value])
  }
}

test('there are hundreds, of which no two have one name', () => {
  expect(vectors.length).toBeGreaterThan(700)
  expect(new Set(vectors.map(titleOf)).size).toBe(vectors.length)
})

describe('the outcome is that of the table, however the bytes are cut', () => {
  test.each(rows)('%s', async (_title, vector) => {
    const { bytes, ending } = vector
    expectOutcome(await readAnswer([bytes], ending), vector, 'whole')
    for (const cut of cutsOf(vector)) {
      const pieces = [bytes.slice(0, cut), bytes.slice(cut)]
      expectOutcome(await readAnswer(pieces, ending), vector, `cut at ${cut}`)
    }
    const single = await readAnswer(bytes.length > 20_000 ? [bytes] : bytes.split(''), ending)
    expectOutcome(single, vector, 'byte by byte')
  })
})

describe('an answer that ends early, at any byte, is rejected', () => {
  const accepted = rows.filter(([, { outcome }]) => outcome !== 'rejected')
  test.each(accepted)('%s', async (_title, vector) => {
    const { bytes, ending } = vector
    const { bytes: length } = await readAnswer(bytes.split(''), ending)
    for (const cut of cutsOf(vector).filter((each) => each < length)) {
      const { outcome } = await readAnswer([bytes.slice(0, cut)], 'fin')
      const bodyAt = bytes.indexOf('\r\n\r\n') + 4
      const mayEnd = ending === 'fin' && cut >= bodyAt
      if (mayEnd) expect(outcome).toMatchObject({ body: bytes.slice(bodyAt, cut) })
      else expect([cut, outcome]).toEqual([cut, 'rejected'])
      expect((await readAnswer([bytes.slice(0, cut)], 'reset')).outcome).toBe('rejected')
    }
  })
})

/** Resets once what was sent has come: it would be lost with the reset. */
const resetLater = (socket: Socket) => polled().then(() => socket.resetAndDestroy())

/** Answers one request with the bytes of a vector, and all others well. */
async function vectorPeer(vector: Vector) {
  const answer = ({ text, socket }: { text: string; socket: Socket }) => {
    if (!text.startsWith('POST /v1/vector ')) return socket.write(okAnswer('good'))
    if (vector.ending === 'open') return socket.write(vector.bytes, 'latin1')
    if (vector.ending === 'fin') return socket.end(vector.bytes, 'latin1')
    return socket.write(vector.bytes, 'latin1', () => void resetLater(socket))
  }
  return peers.peer(answer)
}

describe('on a socket the outcome is the same, and the next request has its own answer', () => {
  test.each(rows)('%s', async (_title, vector) => {
    const { url, connections } = await vectorPeer(vector)
    const transport = new Transport()
    const { outcome } = vector
    try {
      const answer = await transport.send(requestTo(`${url}/vector`), timers)
      const body = (await readBody(answer)).toString('latin1')
      if (outcome === 'rejected') throw new Error(`accepted: ${answer.status} ${body}`)
      expect([answer.status, body]).toEqual([outcome.status, outcome.body])
      for (const [name, value] of Object.entries(vector.fields)) {
        expect([name, answer.headers.get(name)]).toEqual([name, value])
      }
    } catch (thrown) {
      if (outcome !== 'rejected') throw thrown
      expect(thrown).toBeInstanceOf(ConnectionFailed)
      expect(thrown).toMatchObject({ connected: true })
    }
    for (let count = 0; count < 2; count++) {
      const next = await transport.send(requestTo(`${url}/next`), timers)
      expect([next.status, await next.text()]).toEqual([200, 'good'])
    }
    const isKept = outcome !== 'rejected' && outcome.isReusable
    expect(connections()).toBe(isKept ? 1 : 2)
  })
})
