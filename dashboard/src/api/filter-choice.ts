import { ApiError } from './client'

const isKeyOf = <Name extends string>(
  names: Readonly<Record<Name, unknown>>,
  text: string,
): text is Name => Object.hasOwn(names, text)

/**
 * Returns a filter of an address as one of `names`; undefined where it is absent. Rejects any other text with the error of
 * the service, so that a mistyped address shows an error rather than an unfiltered list.
 */
export function filterChoice<Name extends string>(
  param: string,
  text: string | undefined,
  names: Readonly<Record<Name, unknown>>,
): Name | undefined {
  if (text === undefined || isKeyOf(names, text)) return text
  const message = `${param}: must be one of ${Object.keys(names).join(', ')}.`
  throw new ApiError(400, { code: 'invalid_request', message, param })
}
