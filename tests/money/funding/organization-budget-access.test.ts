import { describe, expect, test } from 'bun:test'
import { namesOf, one, organizationBudgets, refusal } from './organization-budget-fixture'
import { idIn } from '../../harness/byok'
import type { Json } from '../../harness/http'

const { on, newBudget, paying, readOne } = organizationBudgets()

describe('access to budgets', () => {
  test('managers see all, other members those that bind them, and all others none', async () => {
    const { organization, member } = await paying()
    const { owner, path } = organization
    const [other, admin, viewer] = [
      await organization.member(),
      await organization.member('admin'),
      await organization.member('viewer'),
    ]
    await newBudget(organization, { name: 'All' })
    await newBudget(organization, { name: 'Soft', enforcement: 'soft' })
    const own = await newBudget(organization, { name: 'Own', member_id: member.userId })
    await newBudget(organization, { name: 'Other', member_id: other.userId })
    await newBudget(organization, { name: 'Research', department: 'Research' })
    const list = `GET ${path}/budgets`
    const all = ['Research', 'Other', 'Own', 'Soft', 'All']
    for (const by of [owner, admin]) expect(namesOf(await on().api(by, list))).toEqual(all)
    expect(namesOf(await on().api(member, list))).toEqual(['Own', 'All'])
    const account = await on().api(member, 'GET /account/budgets')
    expect(namesOf(account, 'organization_budgets')).toEqual(['Own', 'All'])
    const at = `${path}/budgets/${String(own['id'])}`
    expect((await on().api(member, `GET ${at}`)).body).toMatchObject({ name: 'Own' })
    expect(refusal(await on().api(other, `GET ${at}`))).toEqual([404, 'resource_not_found'])
    for (const request of [list, `GET ${at}`])
      expect(refusal(await on().api(viewer, request))).toEqual([403, 'insufficient_permissions'])
    const viewed = await on().api(viewer, 'GET /account/budgets')
    expect(namesOf(viewed, 'organization_budgets')).toEqual([])
  })

  test('only managers change them, and only those of their organization', async () => {
    const { organization, member } = await paying()
    const { owner, path } = organization
    const stranger = await on().roomy()
    const budget = await newBudget(organization)
    const id = String(budget['id'])
    const requests = (at: string): [string, Json | undefined][] => [
      [`POST ${at}/budgets`, one],
      [`PATCH ${at}/budgets/${id}`, { amount: 2 }],
      [`DELETE ${at}/budgets/${id}`, undefined],
    ]
    const viewer = await organization.member('viewer')
    const developer = await organization.member('developer')
    for (const by of [member, viewer, developer])
      for (const [request, body] of requests(path)) {
        const answer = await on().api(by, request, body)
        expect([request, ...refusal(answer)]).toEqual([request, 403, 'insufficient_permissions'])
      }
    for (const [request, body] of requests(path)) {
      const answer = await on().api(stranger.owner, request, body)
      expect([request, ...refusal(answer)]).toEqual([request, 404, 'resource_not_found'])
    }
    // A manager of another organization names it in the path of its own.
    for (const [request, body] of requests(stranger.path).slice(1)) {
      const answer = await on().api(stranger.owner, request, body)
      expect([request, ...refusal(answer)]).toEqual([request, 404, 'resource_not_found'])
    }
    await on().api(owner, `DELETE ${path}/members/${member.userId}`)
    for (const [request, body] of [...requests(path), [`GET ${path}/budgets`, undefined] as const])
      expect(refusal(await on().api(member, request, body))).toEqual([404, 'resource_not_found'])
    expect(await readOne(organization, budget)).toMatchObject({ amount: 1 })
  })

  test('a budget is of a member or a department of the organization', async () => {
    const { organization, member } = await paying()
    const outsider = await on().fixture.newCustomer()
    const create = (fields: Json) =>
      on().api(organization.owner, `POST ${organization.path}/budgets`, { ...one, ...fields })
    const unknown = await create({ member_id: outsider.userId })
    expect(unknown.error).toMatchObject({ param: 'member_id', details: { issue: 'unknown_value' } })
    const both = await create({ member_id: member.userId, department: 'Research' })
    expect(both.error).toMatchObject({ param: 'department', details: { issue: 'conflict' } })
    const changed = await on().api(
      organization.owner,
      `PATCH ${organization.path}/budgets/${idIn(await create({}))}`,
      { window: 'total' },
    )
    expect(changed.error).toMatchObject({ param: 'window', details: { issue: 'conflict' } })
  })
})
