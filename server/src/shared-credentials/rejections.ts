import { invalidRequest, type ApiError } from '../errors'

/** Creates the refusal of a reference to what the account of a shared credential holds at its provider. */
export const rejectStored = (field: string): ApiError =>
  invalidRequest(
    field,
    'not_allowed',
    `${field}: data stored at a provider is not shared between accounts. Use your own connection (BYOK) for it.`,
  )

/** Creates the refusal of a field without which the answer would mean or cost something else. */
export const rejectUnlisted = (field: string): ApiError =>
  invalidRequest(
    field,
    'not_allowed',
    `${field}: not available on a credential that accounts share. Use your own connection (BYOK) for it.`,
  )

/** Creates the refusal of an address that the server which gets it would fetch. */
export const rejectRemote = (field: string): ApiError =>
  invalidRequest(
    field,
    'not_allowed',
    `${field}: the server of this model does not get URLs to fetch. Send the content itself, as a data URL.`,
  )
