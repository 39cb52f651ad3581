import { expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import { formatIsoTime } from './iso-time'

test('a moment is written in the format of dates, in any input format', () => {
  const moment = fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) })
  const property = fc.property(moment, fc.nat(2000), (ms, later) => {
    expect([formatIsoTime(ms), formatIsoTime(ms + later)]).toEqual([
      new Date(ms).toISOString(),
      new Date(ms + later).toISOString(),
    ])
  })
  fc.assert(property)
})
