import { call, idIn, type Stage } from './stage'
import type { Json } from '../faults/asking'
import type { Customer } from '../rig'

let counter = 0

/** A text that nobody has used. */
export const unused = (words: string) => `${words} ${++counter}`

/** One that was made for a test. */
export interface Organization {
  owner: Customer
  id: string
  path: string
  /** Lets somebody in, as that. */
  member: (role?: string) => Promise<Customer>
  connection: (fields?: Json, by?: Customer) => ReturnType<typeof call>
}

/** Makes a public one, by an owner of its own. */
export async function newOrganization(
  stage: Pick<Stage, 'gateway' | 'somebody'> & Partial<Stage>,
  fields: Json = {},
): Promise<Organization> {
  const api = (by: Customer, request: string, body?: Json) => call(stage.gateway, by, request, body)
  const owner = await stage.somebody()
  const name = unused('Company')
  const id = idIn(await api(owner, 'POST /organizations', { name, is_public: true, ...fields }))
  const path = `/organizations/${id}`
  return {
    owner,
    id,
    path,
    async member(role = 'member') {
      const joining = await stage.somebody()
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
        ...(stage.upstream && { endpoint_url: stage.upstream.url }),
        scope: 'organization',
        organization_id: id,
        ...more,
      }),
  }
}
