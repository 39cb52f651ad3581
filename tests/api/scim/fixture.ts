import { sendOperatorRequest } from '../../harness/operator'
import { uniqueName } from '../../harness/organization'
import type { Json } from '../../harness/http'
import type { Gateway } from '../../harness/server'

const patchOp = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'
const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User'
const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group'

/** An answer of SCIM. */
interface ScimAnswer {
  status: number
  headers: Headers
  body: Json
}

/** A client of SCIM, as an identity provider is one: it sends the token of a directory. */
export interface ScimClient {
  id: string
  token: string
  send: (request: string, body?: Json, headers?: Record<string, string>) => Promise<ScimAnswer>
  /** Creates a user by its address; returns its id. */
  user: (email: string, fields?: Json) => Promise<string>
  /** Creates a group with members; returns its id. */
  group: (displayName: string, members?: readonly string[]) => Promise<string>
  patch: (path: string, ...operations: readonly Json[]) => Promise<ScimAnswer>
}

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null

/** The objects of a list in a body. */
export const listIn = (body: Json, name: string): Json[] => [body[name]].flat().filter(isJson)

const parse = (text: string): Json => (text === '' ? {} : JSON.parse(text))

/** Returns the client of a token. */
export function scimClient({ url }: Pick<Gateway, 'url'>, id: string, token: string): ScimClient {
  const send: ScimClient['send'] = async (request, body, headers = {}) => {
    const [method = '', path = ''] = request.split(/ (.*)/s)
    const response = await fetch(`${url}/scim/v2${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body && { 'content-type': 'application/scim+json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const answer = parse(await response.text())
    return { status: response.status, headers: response.headers, body: answer }
  }
  const create = async (path: string, body: Json) => {
    const answer = await send(`POST ${path}`, body)
    if (answer.status !== 201) throw new Error(JSON.stringify(answer))
    return String(answer.body['id'])
  }
  return {
    id,
    token,
    send,
    user: (userName, fields = {}) =>
      create('/Users', { schemas: [userSchema], userName, ...fields }),
    group: (displayName, members = []) =>
      create('/Groups', {
        schemas: [groupSchema],
        displayName,
        members: members.map((value) => ({ value })),
      }),
    patch: (path, ...Operations) => send(`PATCH ${path}`, { schemas: [patchOp], Operations }),
  }
}

/** A domain that no other test has. */
export const newDomain = () => `${uniqueName('corp').replaceAll(' ', '')}.example`

/** A directory of the installation for one domain. */
export async function installationDirectory(
  gateway: Gateway,
  fields: Json = {},
): Promise<ScimClient & { domain: string }> {
  const domain = newDomain()
  const body = { name: 'Entra ID', domains: [domain], ...fields }
  const { id, token } = await gateway.admin('POST', '/scim-directories', body)
  return { ...scimClient(gateway, String(id), String(token)), domain }
}

/** An organization with a directory; the operator has listed a domain for it unless `domains` are others. */
export async function organizationDirectory(gateway: Gateway, domains?: readonly string[]) {
  const owner = await gateway.customer({ permissions: ['admin'] })
  const api = async (request: string, body?: Json, key = owner.key) => {
    const [method = '', path = ''] = request.split(' ')
    const response = await gateway.recorder.fetch(`${gateway.url}/api${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: parse(await response.text()) }
  }
  const name = uniqueName('Company')
  const organization = String((await api('POST /organizations', { name })).body['id'])
  const path = `/organizations/${organization}/scim-directories`
  const created = await api(`POST ${path}`, { name: 'Okta' })
  const id = String(created.body['id'])
  const domain = domains?.[0] ?? newDomain()
  await sendOperatorRequest(gateway, `PUT /scim-directories/${id}`, {
    domains: domains ?? [domain],
  })
  const client = scimClient(gateway, id, String(created.body['token']))
  return { ...client, owner, api, organization, path, domain }
}
