import { scimType as mediaType, toScimErrorBody } from '../http/scim-error-format'

/** Values of `scimType`. Source: RFC 7644 3.12. */
type ScimType =
  | 'invalidFilter'
  | 'tooMany'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue'

interface ScimErrorOptions {
  status: 400 | 403 | 404 | 409 | 412 | 413
  scimType?: ScimType
}

/** A failure that SCIM has a form for; its message is for the administrator of the identity provider. */
export class ScimError extends Error {
  override readonly name = 'ScimError'
  readonly status: ScimErrorOptions['status']
  readonly scimType: ScimType | undefined

  constructor(message: string, { status, scimType }: ScimErrorOptions) {
    super(message)
    this.status = status
    this.scimType = scimType
  }
}

/** Creates an error for a request that cannot be understood or done as it is. */
export const badRequest = (scimType: ScimType, message: string) =>
  new ScimError(message, { status: 400, scimType })

/** Creates an error for a value that another resource has. */
export const uniquenessError = (message: string) =>
  new ScimError(message, { status: 409, scimType: 'uniqueness' })

/** Creates an error for what the directory may not do. */
export const forbidden = (message: string) => new ScimError(message, { status: 403 })

export const notFound = () => new ScimError('The resource does not exist.', { status: 404 })

/** Renders an error of SCIM. */
export const renderScimError = ({ status, scimType, message: detail }: ScimError): Response =>
  new Response(JSON.stringify(toScimErrorBody({ status, scimType, detail })), {
    status,
    headers: { 'content-type': mediaType },
  })
