/** Names of schemas and messages. Source: RFC 7643 8.7, RFC 7644 3.1. */
export const schemas = {
  user: 'urn:ietf:params:scim:schemas:core:2.0:User',
  group: 'urn:ietf:params:scim:schemas:core:2.0:Group',
  enterprise: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
  list: 'urn:ietf:params:scim:api:messages:2.0:ListResponse',
} as const

/** The path below which all endpoints are. */
export const basePath = '/scim/v2'

/** The attribute that stands for all of the enterprise extension. */
export const enterpriseAttribute = 'enterprise'

/** Returns the name of an attribute in lower case, as names do not differ by case, without the schema that it is from. */
export function toAttributeName(path: string): string {
  const name = path.toLowerCase()
  if (name === schemas.enterprise.toLowerCase()) return enterpriseAttribute
  for (const schema of [schemas.enterprise, schemas.user, schemas.group]) {
    const prefix = `${schema.toLowerCase()}:`
    if (name.startsWith(prefix)) return name.slice(prefix.length)
  }
  return name
}
