import { call, idIn, type Fixture } from './byok'
import type { Json } from './http'
import type { Customer } from './server'

let counter = 0

/** Returns an unused text. */
export const uniqueName = (words: string) => `${words} ${++counter}`

/** One that was made for a test. */
export interface Organization {
  owner: Customer
  id: string
  path: string
  /** Adds a customer with that role. */
  member: (role?: string) => Promise<Customer>
  connection: (fields?: Json, by?: Customer) => ReturnType<typeof call>
}

/** Makes a public one, by an owner of its own. */
export async function newOrganization(
  fixture: Pick<Fixture, 'gateway' | 'newCustomer'> & Partial<Fixture>,
  fields: Json = {},
): Promise<Organization> {
  const api = (by: Customer, request: string, body?: Json) =>
    call(fixture.gateway, by, request, body)
  const owner = await fixture.newCustomer()
  const name = uniqueName('Company')
  const id = idIn(await api(owner, 'POST /organizations', { name, is_public: true, ...fields }))
  const path = `/organizations/${id}`
  return {
    owner,
    id,
    path,
    async member(role = 'member') {
      const joining = await fixture.newCustomer()
      await api(joining, `POST ${path}/join`, { message: 'Hello.' })
      const change = { status: 'active', role }
      const answer = await api(owner, `PUT ${path}/members/${joining.userId}`, change)
      if (answer.body['role'] !== role) throw new Error(answer.text)
      return joining
    },
    connection: (more = {}, by = owner) =>
      api(by, 'POST /connections', {
        name: 'Ours',
        provider: 'fake',
        api_key: 'sk-ours-0123456789',
        ...(fixture.upstream && { endpoint_url: fixture.upstream.url }),
        scope: 'organization',
        organization_id: id,
        ...more,
      }),
  }
}
