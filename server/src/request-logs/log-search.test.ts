import { expect, test } from 'bun:test'
import { idSlackMs, toLogSearch } from './log-search'
import { getIdTime, newId } from '../platform/db/id'

const id = newId('req', Date.parse('2026-11-20T12:00:00Z'))
const time = getIdTime(id)

test('a whole id is searched in two minutes', () => {
  const found = toLogSearch(id)
  expect(found).toEqual({
    firstId: id,
    lastId: id,
    from: new Date(time - idSlackMs),
    to: new Date(time + idSlackMs),
  })
})

test('the id of a completion, a response or a message is that of its request', () => {
  const body = id.slice('req_'.length)
  for (const other of [`chatcmpl-${body}`, `cmpl-${body}`, `resp_${body}`, `msg_${body}`]) {
    expect(toLogSearch(other)).toEqual(toLogSearch(id))
  }
  expect(toLogSearch(`msg_${body}000`)).toEqual(toLogSearch(id))
  expect(toLogSearch(id.toUpperCase())).toEqual(toLogSearch(id))
})

test('eight characters and more of an id find the ids that begin with them, in a bounded time', () => {
  for (let length = 8; length < id.length; length++) {
    const found = toLogSearch(id.slice(0, length))
    if (!('firstId' in found)) throw new Error(`${length} characters are no id`)
    expect(found.firstId <= id && id <= found.lastId).toBe(true)
    expect(found.firstId).toHaveLength(id.length)
    expect(found.from.getTime() <= time && time <= found.to.getTime()).toBe(true)
    // Each character of the time is five bits.
    const spanMs = 2 ** (5 * Math.max(0, 10 - (length - 4))) + 2 * idSlackMs
    expect(found.to.getTime() - found.from.getTime()).toBeLessThanOrEqual(spanMs)
  }
})

test('any other text is a part of an error', () => {
  for (const text of ['rate limit', 'req_01', 'req_01k9z!', `${id}x`, 'model_not_found']) {
    expect(toLogSearch(text)).toEqual({ errorText: text })
  }
})
