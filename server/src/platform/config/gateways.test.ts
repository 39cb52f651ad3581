import { expect, test } from 'bun:test'
import { readConfig } from './config'

const heartbeatOf = (seconds?: string) =>
  readConfig({ ...(seconds !== undefined && { GATEWAY_HEARTBEAT_SECONDS: seconds }) })
    .gatewayHeartbeatMs

test('gateways send a heartbeat every 30 s, or in the configured interval', () => {
  expect(heartbeatOf()).toBe(30_000)
  expect(heartbeatOf('')).toBe(30_000)
  expect(heartbeatOf('1.5')).toBe(1500)
})

test.each(['0', '0.9', '41', 'often', 'NaN'])('%p seconds are rejected', (seconds) => {
  expect(() => heartbeatOf(seconds)).toThrow(/^GATEWAY_HEARTBEAT_SECONDS: /)
})
