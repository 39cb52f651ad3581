import { expect, test } from 'bun:test'
import { announceKeepAlive, closeConnection, keepAliveSeconds } from './keep-alive'

test('finding D13: a kept connection has an announced time, shorter than the real one', () => {
  const headers = new Headers()
  announceKeepAlive(headers)
  const seconds = Number(/^timeout=(\d+)$/.exec(headers.get('keep-alive') ?? '')?.[1])
  expect(seconds).toBeWithin(60, keepAliveSeconds)
})

test('finding D13: a closed connection announces no time', () => {
  const headers = new Headers()
  announceKeepAlive(headers)
  closeConnection(headers)
  expect([headers.get('connection'), headers.get('keep-alive')]).toEqual(['close', null])
  announceKeepAlive(headers)
  expect(headers.has('keep-alive')).toBeFalse()
})
