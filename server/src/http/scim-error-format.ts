import type { ErrorFormat } from '../protocols/dialect'
import type { ApiError } from '../errors'

/** Media type of SCIM. Source: RFC 7644 3.1. */
export const scimType = 'application/scim+json'

interface ScimErrorFields {
  status: number
  detail: string
  scimType?: string | undefined
}

/** Returns the body of an error. Source: RFC 7644 3.12. */
export const toScimErrorBody = ({ status, detail, scimType: kind }: ScimErrorFields) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
  status: String(status),
  ...(kind && { scimType: kind }),
  detail,
})

/** The issues of a request's body that are faults of its syntax. */
const syntaxIssues: readonly unknown[] = ['invalid_json', 'wrong_type', 'wrong_content_type']

/** Errors as identity providers read them. */
export const scimErrorFormat: ErrorFormat = {
  errorBody: ({ status, message, details }: ApiError) =>
    toScimErrorBody({
      status,
      detail: message,
      scimType: syntaxIssues.includes(details['issue']) ? 'invalidSyntax' : undefined,
    }),
  headers: () => ({ 'content-type': scimType }),
}
