import { expect, test } from 'bun:test'
import { readConfig } from './config'

const heartbeatOf = (seconds?: string) =>
  readConfig({ ...(seconds !== undefined && { GATEWAY_HEARTBEAT_SECONDS: seconds }) })
    .gatewayHeartbeatMs

test('gateways say that they are there every 30 s, or as often as is set', () => {
  expect(heartbeatOf()).toBe(30_000)
  expect(heartbeatOf('')).toBe(30_000)
  expect(heartbeatOf('1.5')).toBe(1500)
})

test.each(['0', '0.9', '41', 'often', 'NaN'])('%p seconds are refused', (seconds) => {
  expect(() => heartbeatOf(seconds)).toThrow(/^GATEWAY_HEARTBEAT_SECONDS: /)
})
