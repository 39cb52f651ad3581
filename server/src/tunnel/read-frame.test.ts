import { describe, expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import { ProtocolError, readFrame } from './read-frame'

const text = (frame: object) => JSON.stringify(frame)

const long = (character: string, count: number) =>
  text({ type: 'heartbeat', id: '1', more: character.repeat(count) })

describe('a frame', () => {
  test('is read as its schema has it, unknown fields left out', () => {
    const known = { type: 'response', id: '1', status: 200, body: 'x' }
    expect(readFrame(text({ ...known, more: 1 }))).toMatchObject(known)
    expect(readFrame(text({ type: 'chunk', id: '1', data: 'x', more: 1 }))).toEqual({
      type: 'chunk',
      id: '1',
      data: 'x',
    })
    expect(readFrame(text({ type: 'error', id: '1', code: 'overloaded', message: '' }))).toEqual({
      type: 'error',
      id: '1',
      code: 'overloaded',
      message: '',
      sent: true,
    })
  })

  test('any other frame is a breach of the protocol, and nothing worse', () => {
    const property = fc.property(fc.oneof(fc.string(), fc.json()), (message) => {
      try {
        readFrame(message)
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(ProtocolError)
      }
    })
    fc.assert(property, { numRuns: 500 })
    expect(() => readFrame(Buffer.from('{}'))).toThrow(ProtocolError)
    expect(() => readFrame(text({ type: 'chunk', id: '1', data: 1 }))).toThrow(ProtocolError)
    expect(() => readFrame('{"__proto__":{"type":"heartbeat","id":"1"}}')).toThrow(ProtocolError)
  })

  test('has at most 1 MB, counted in bytes', () => {
    expect(readFrame(long('x', 1_000_000)).type).toBe('heartbeat')
    expect(() => readFrame(long('x', 1_100_000))).toThrow('1 MB')
    expect(() => readFrame(long('é', 600_000))).toThrow('1 MB')
  })
})
