import { basePath, schemas } from './names'
import { toListResponse } from './resources'
import { notFound } from './scim-error'

/** The maximum number of resources in a list. */
export const maxCount = 200

const metaOf = (address: string, resourceType: string, path: string) => ({
  resourceType,
  location: `${address}${basePath}/${path}`,
})

/** Returns what the service supports. Source: RFC 7643 5. */
export const toServiceProviderConfig = (address: string) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: maxCount },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: true },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'Bearer token',
      description: 'The token of the directory, which Tollgate shows once.',
      primary: true,
    },
  ],
  meta: metaOf(address, 'ServiceProviderConfig', 'ServiceProviderConfig'),
})

const resourceTypes = {
  User: {
    endpoint: '/Users',
    schema: schemas.user,
    schemaExtensions: [{ schema: schemas.enterprise, required: false }],
  },
  Group: { endpoint: '/Groups', schema: schemas.group, schemaExtensions: [] },
}

const toResourceType = (address: string, id: keyof typeof resourceTypes) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
  id,
  name: id,
  ...resourceTypes[id],
  meta: metaOf(address, 'ResourceType', `ResourceTypes/${id}`),
})

/** Returns the kinds of resources, or one of them. Throws 404. Source: RFC 7643 6. */
export function toResourceTypes(address: string, id?: string): object {
  if (id === 'User' || id === 'Group') return toResourceType(address, id)
  if (id !== undefined) throw notFound()
  const resources = [toResourceType(address, 'User'), toResourceType(address, 'Group')]
  return toListResponse({ total: resources.length, startIndex: 1, resources })
}

interface AttributeOptions {
  type?: 'string' | 'boolean' | 'complex' | 'reference'
  required?: boolean
  multiValued?: boolean
  mutability?: 'readWrite' | 'readOnly'
  uniqueness?: 'none' | 'server'
  caseExact?: boolean
  subAttributes?: readonly object[]
}

const attribute = (name: string, options: AttributeOptions = {}) => ({
  name,
  type: 'string',
  multiValued: false,
  required: false,
  caseExact: false,
  mutability: 'readWrite',
  returned: 'default',
  uniqueness: 'none',
  ...options,
})

const readOnly = { mutability: 'readOnly' } as const

const descriptions = {
  [schemas.user]: {
    name: 'User',
    attributes: [
      attribute('userName', { required: true, uniqueness: 'server' }),
      attribute('name', {
        type: 'complex',
        subAttributes: [attribute('formatted'), attribute('familyName'), attribute('givenName')],
      }),
      attribute('displayName'),
      attribute('title'),
      attribute('active', { type: 'boolean' }),
      attribute('emails', {
        type: 'complex',
        multiValued: true,
        subAttributes: [
          attribute('value'),
          attribute('type'),
          attribute('primary', { type: 'boolean' }),
        ],
      }),
      attribute('groups', {
        type: 'complex',
        multiValued: true,
        ...readOnly,
        subAttributes: [attribute('value', readOnly), attribute('display', readOnly)],
      }),
    ],
  },
  [schemas.enterprise]: {
    name: 'EnterpriseUser',
    attributes: [attribute('department')],
  },
  [schemas.group]: {
    name: 'Group',
    attributes: [
      attribute('displayName', { required: true, uniqueness: 'server' }),
      attribute('members', {
        type: 'complex',
        multiValued: true,
        subAttributes: [attribute('value'), attribute('display', readOnly)],
      }),
    ],
  },
}

const toSchema = (address: string, id: string, fields: object) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
  id,
  ...fields,
  meta: metaOf(address, 'Schema', `Schemas/${id}`),
})

/** Returns the schemas, or one of them. Throws 404. Source: RFC 7643 7. */
export function toSchemas(address: string, id?: string): object {
  const resources = Object.entries(descriptions).map(([name, fields]) =>
    toSchema(address, name, fields),
  )
  if (id === undefined) return toListResponse({ total: resources.length, startIndex: 1, resources })
  const match = resources.find((schema) => schema.id.toLowerCase() === id.toLowerCase())
  if (!match) throw notFound()
  return match
}
