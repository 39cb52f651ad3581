import { expect, test } from 'bun:test'
import { byUse, connectCommand, isInTheClear, serviceOf, type Gateway } from './queries'
import { pollSoon } from '../../api/polling'
import { sentTools, usableGateways, withoutTools } from '../automation/session-tools'

const gateway = (fields: Partial<Gateway>): Gateway => ({
  id: 'gw_1',
  name: 'Cellar',
  gateway_type: 3,
  status: 'online',
  scope: 'individual',
  organization_id: null,
  is_public: false,
  tool_count: 0,
  tools: [],
  providers: [],
  version: null,
  last_heartbeat_at: null,
  created_at: '2026-01-01T00:00:00.000Z',
  ...fields,
})

test.each([
  ['wss://tollgate.example.com/gateway', 'https://tollgate.example.com', false],
  ['wss://example.com/below/gateway', 'https://example.com/below', false],
  ['ws://localhost:8080/gateway', 'http://localhost:8080', false],
  ['ws://192.168.1.7:8080/gateway', 'http://192.168.1.7:8080', true],
])('the connect command for %s is %s', (connectUrl, address, isClear) => {
  expect(serviceOf(connectUrl)).toBe(address)
  expect(isInTheClear(address)).toBe(isClear)
  expect(connectCommand(address).endsWith('--insecure')).toBe(isClear)
})

test('usable gateways come first, then by name', () => {
  const all = [
    gateway({ name: 'b', status: 'offline' }),
    gateway({ name: 'c' }),
    gateway({ name: 'a', status: 'offline' }),
    gateway({ name: 'd', status: 'starting' }),
  ]
  expect(byUse(all).map(({ name }) => name)).toEqual(['c', 'd', 'a', 'b'])
})

test('a viewer of an organization is not offered its tools', () => {
  const shared = gateway({ name: 'shared', scope: 'organization', organization_id: 'org_1' })
  const own = gateway({ name: 'own' })
  const among = (role: string, status = 'active') =>
    usableGateways([shared, own], [{ id: 'org_1', role, status }]).map(({ name }) => name)
  expect(among('viewer')).toEqual(['own'])
  expect(among('member')).toEqual(['own', 'shared'])
  expect(among('owner', 'suspended')).toEqual(['own'])
})

test('a session with tools is created with a gateway, and with a tool list when not all are allowed', () => {
  const chosen = { gatewayId: 'gw_1', enabledTools: ['add'] }
  expect(sentTools({ ...withoutTools, ...chosen })).toEqual({})
  const all = { ...withoutTools, ...chosen, sessionType: 'automation' as const }
  expect(sentTools(all)).toEqual({ sessionType: 'automation', gatewayId: 'gw_1' })
  expect(sentTools({ ...all, hasAllTools: false })).toMatchObject({ enabledTools: ['add'] })
})

const after = (dataUpdateCount: number, status: 'success' | 'error' = 'success') =>
  pollSoon({ state: { status, dataUpdateCount } })

test('polling slows down after ten minutes and after a failure', () => {
  expect(after(1)).toBe(4000)
  expect(after(151)).toBe(30_000)
  expect(after(1, 'error')).toBe(30_000)
})
