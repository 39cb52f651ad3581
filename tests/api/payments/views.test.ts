import { expect, test } from 'bun:test'
import { useBilledFixture } from './billed-fixture'
import { listIn } from './fixture'
import { call, idIn } from '../../harness/byok'
import { newOrganization } from '../../harness/organization'
import type { Json } from '../../harness/http'
import type { Customer } from '../../harness/server'

const { fixture, read } = useBilledFixture()

const api = (customer: Customer, request: string, body?: Json) =>
  call(fixture().gateway, customer, request, body)

const view = { name: 'Models', parameters: { period: 'this_month', group_by: 'model' } }

const namesOf = async (customer: Customer, query = '') =>
  listIn(await read(customer, `/views${query}`), 'views').map(({ name }) => name)

test('a view is saved, changed, listed by name and deleted, by its account alone', async () => {
  const customer = await fixture().newCustomer()
  const id = idIn(await api(customer, 'POST /billing/views', view))
  await api(customer, 'POST /billing/views', { ...view, name: 'another' })
  expect(await namesOf(customer)).toEqual(['another', 'Models'])
  const parameters = { start_date: '2026-11-01', end_date: '2026-11-30', compare: 'previous' }
  const changed = await api(customer, `PUT /billing/views/${id}`, { parameters })
  expect(changed.body).toMatchObject({ id, organization_id: null, name: 'Models', parameters })
  const stranger = await fixture().newCustomer()
  for (const method of ['PUT', 'DELETE']) {
    const answer = await api(stranger, `${method} /billing/views/${id}`, { name: 'Mine' })
    expect(answer.error.code).toBe('resource_not_found')
  }
  expect(await namesOf(stranger)).toEqual([])
  const deleted = await api(customer, `DELETE /billing/views/${id}`)
  expect(deleted.body).toMatchObject({ success: true })
  expect(await namesOf(customer)).toEqual(['another'])
})

test('the owner and the admins of an organization share its views, members have none', async () => {
  const { owner, id, member } = await newOrganization(fixture())
  const [admin, plain] = [await member('admin'), await member()]
  const shared = { ...view, organization_id: id }
  const viewId = idIn(await api(admin, 'POST /billing/views', shared))
  expect(await namesOf(owner, `?organization_id=${id}`)).toEqual(['Models'])
  expect(await namesOf(owner)).toEqual([])
  await api(owner, `PUT /billing/views/${viewId}`, { name: 'Ours' })
  expect(await namesOf(admin, `?organization_id=${id}`)).toEqual(['Ours'])
  for (const request of ['PUT', 'DELETE']) {
    const answer = await api(plain, `${request} /billing/views/${viewId}`, { name: 'Mine' })
    expect(answer.error.code).toBe('insufficient_permissions')
  }
  const listed = await read(plain, `/views?organization_id=${id}`)
  expect(listed.error.code).toBe('insufficient_permissions')
})

test.each<[string, Json, string]>([
  ['a name that is taken', view, 'name'],
  ['an unknown parameter', { name: 'Other', parameters: { colour: 'red' } }, 'parameters'],
  [
    'one day alone',
    { name: 'Other', parameters: { start_date: '2026-11-01' } },
    'parameters.start_date',
  ],
])('%s is rejected', async (_what, body, param) => {
  const customer = await fixture().newCustomer()
  await api(customer, 'POST /billing/views', view)
  const { status, error } = await api(customer, 'POST /billing/views', body)
  expect([status, error.code]).toEqual([400, 'invalid_request'])
  expect(String(error.param)).toStartWith(param)
})
