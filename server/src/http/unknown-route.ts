import { ApiError } from '../errors'

const modelPath =
  /^\/(?:chat\/completions|completions|embeddings|moderations|rerank|images|messages|models|responses|conversations)\b/

/** An endpoint: its method in any case, and its path as the router reads it. */
interface Endpoint {
  method: string
  path: string
}

/** The endpoints of the service, as far as errors name them. */
export interface KnownEndpoints {
  /** Lists the methods that a path takes; none for an unknown path. */
  methodsOf: (path: string) => readonly string[]
  /** The endpoints of models without parameters in their paths, as a text. */
  ofModels: string
}

/** Without the operator's key these paths do not differ from ones that do not exist. */
const operatorPath = /^\/api\/admin(?:\/|$)/

/** A parameter of the router, with the pattern of its values where it has one. */
const parameter = /:\w+(?:\{((?:[^{}]|\{[^{}]*\})*)\})?/g

const toPattern = (path: string) =>
  new RegExp(
    `^${path.replaceAll(parameter, (_, values?: string) => (values ? `(?:${values})` : '[^/]+'))}/?$`,
  )

/** Prepares the endpoints of the service for errors about paths that are none of them. */
export function toKnownEndpoints(endpoints: readonly Endpoint[]): KnownEndpoints {
  const knownPaths = endpoints
    .filter(({ path }) => !operatorPath.test(path))
    .map(({ method, path }) => ({
      method: method.toUpperCase(),
      pattern: toPattern(path),
    }))
  const plain = endpoints.filter(({ path }) => path.startsWith('/v1/') && !path.includes(':'))
  const ofModels = ['post', 'get'].map((method) => {
    const paths = plain.filter((one) => one.method.toLowerCase() === method)
    return `${method.toUpperCase()} ${paths.map(({ path }) => path).join(', ')}`
  })
  return {
    methodsOf: (path) => [
      ...new Set(knownPaths.flatMap(({ method, pattern }) => (pattern.test(path) ? [method] : []))),
    ],
    ofModels: ofModels.join('; '),
  }
}

const notFoundMessage = 'The resource does not exist.'

/**
 * Returns the error for a request that no route serves. It names what there is: the right path for frequent mistakes in
 * base URLs, the methods of a path, or the endpoints.
 */
export function toUnknownRouteError(path: string, knownEndpoints: KnownEndpoints): ApiError {
  const single = path.replaceAll(/\/{2,}/g, '/')
  const corrected = single.replace(/^(?:\/v1)+(?=\/)/, '/v1')
  if (/^\/v1\/v1\/(?:messages|models)\b/.test(single)) {
    return notFound(`The base URL of an Anthropic client ends before /v1: use ${corrected}.`)
  }
  if (corrected !== single) return notFound(`The path has /v1 more than once: use ${corrected}.`)
  if (single !== path) return notFound(`The path has two slashes in a row: use ${corrected}.`)
  if (modelPath.test(path))
    return notFound(`The base URL of this service ends in /v1: use /v1${path}.`)
  return notFound(findHint(path, knownEndpoints))
}

/** Bounds the work for a path, which may have any length. */
const maxPath = 1000

function findHint(path: string, { methodsOf, ofModels }: KnownEndpoints): string | undefined {
  if (path.length <= maxPath) {
    const methods = methodsOf(path)
    if (methods.length > 0) return `${path} takes ${methods.join(', ')}.`
    // As OpenRouter has its endpoints.
    const ofModel = path.replace(/^\/api(?=\/v1\/)/, '')
    if (ofModel !== path && methodsOf(ofModel).length > 0)
      return `The base URL of this service ends in /v1, without /api: use ${ofModel}.`
  }
  if (/^\/v1(?:beta\d*|alpha)?(?:\/|$)/.test(path)) {
    return `There are ${ofModels}. /openapi.json describes all endpoints.`
  }
  return /^\/api(?:\/|$)/.test(path) && !operatorPath.test(path)
    ? '/openapi.json describes all endpoints.'
    : undefined
}

/** Bounds the message, as a path may have any length. */
const maxMessage = 400

const notFound = (hint: string | undefined) =>
  new ApiError('resource_not_found', {
    message: (hint === undefined ? notFoundMessage : `${notFoundMessage} ${hint}`).slice(
      0,
      maxMessage,
    ),
  })
