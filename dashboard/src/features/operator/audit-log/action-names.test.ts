import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { actionOf, routeOf } from './action-names'

interface Description {
  paths: Record<string, Record<string, unknown>>
}

/** Reads that disclose an account's data, which are recorded too. Source: docs/operate/audit-trail.md. */
const disclosures = ['GET /users/:id/export', 'GET /audit-trail/export', 'GET /request-logs/:id']

test('finding B16: every action that the audit log records has a name', async () => {
  const file = join(import.meta.dir, '../../../../../openapi-operator.json')
  const { paths }: Description = await Bun.file(file).json()
  const actions = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({
      method: method.toUpperCase(),
      route: path.replaceAll(/\{(\w+)\}/g, ':$1'),
    })),
  )
  const recorded = actions.filter(
    (action) => action.method !== 'GET' || disclosures.includes(routeOf(action)),
  )
  expect(recorded.length).toBeGreaterThan(disclosures.length)
  expect(recorded.filter((action) => actionOf(action) === routeOf(action))).toEqual([])
})

test('an action without a name is its method and route', () => {
  expect(actionOf({ method: 'POST', route: '/api/admin/news' })).toBe('POST /news')
})
