import { expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import { isoTime } from './iso-time'

test('a moment is written as dates are, whatever was written before', () => {
  const moment = fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) })
  const property = fc.property(moment, fc.nat(2000), (ms, later) => {
    expect([isoTime(ms), isoTime(ms + later)]).toEqual([
      new Date(ms).toISOString(),
      new Date(ms + later).toISOString(),
    ])
  })
  fc.assert(property)
})
