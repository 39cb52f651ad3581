import { findNearestEndpoints } from './nearest-endpoint'
import { ApiError } from '../errors'

const modelPath =
  /^\/(?:chat\/completions|completions|embeddings|moderations|rerank|images\/(?:generations|edits|variations)|audio\/(?:speech|transcriptions|translations)|messages|models|responses|conversations)\b/

/** An endpoint: its method in any case, and its path as the router reads it. */
interface Endpoint {
  method: string
  path: string
}

/** The endpoints of the service, as far as errors name them. */
export interface KnownEndpoints {
  /** Lists the methods that a path takes; none for an unknown path. */
  methodsOf: (path: string) => readonly string[]
  /** The endpoints of models without parameters in their paths. */
  ofModels: readonly Endpoint[]
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
  return {
    methodsOf: (path) => [
      ...new Set(knownPaths.flatMap(({ method, pattern }) => (pattern.test(path) ? [method] : []))),
    ],
    ofModels: endpoints
      .filter(({ path }) => path.startsWith('/v1/') && !path.includes(':'))
      .map(({ method, path }) => ({ method: method.toUpperCase(), path })),
  }
}

/** Names endpoints by their methods: `POST /v1/audio/speech; GET /v1/models`. */
function toText(endpoints: readonly Endpoint[]): string {
  const methods = ['POST', 'GET'].flatMap((method) => {
    const paths = endpoints.filter((one) => one.method === method).map(({ path }) => path)
    return paths.length > 0 ? [`${method} ${paths.join(', ')}`] : []
  })
  return methods.join('; ')
}

const notFoundMessage = 'The resource does not exist.'

/** Bounds a hint with a path, which may have any length. */
const maxHint = 360

const namePath = (hint: string) => notFound(hint.slice(0, maxHint))

/**
 * Returns the error for a request that no route serves. It names what there is: the right path for frequent mistakes in
 * base URLs, the methods of a path, the nearest endpoints, or all.
 */
export function toUnknownRouteError(path: string, knownEndpoints: KnownEndpoints): ApiError {
  const single = path.replaceAll(/\/{2,}/g, '/')
  const corrected = single.replace(/^(?:\/v1)+(?=\/)/, '/v1')
  if (/^\/v1\/v1\/(?:messages|models)\b/.test(single)) {
    return namePath(`The base URL of an Anthropic client ends before /v1: use ${corrected}.`)
  }
  if (corrected !== single) return namePath(`The path has /v1 more than once: use ${corrected}.`)
  if (single !== path) return namePath(`The path has two slashes in a row: use ${corrected}.`)
  if (modelPath.test(path) || isWithoutVersion(path, knownEndpoints))
    return namePath(`The base URL of this service ends in /v1: use /v1${path}.`)
  const hint = path.length > maxPath ? undefined : findPath(path, knownEndpoints)
  return hint === undefined ? notFound(describeEndpoints(path, knownEndpoints)) : namePath(hint)
}

/** Bounds the work for a path, which may have any length. */
const maxPath = 1000

const isWithoutVersion = (path: string, { methodsOf }: KnownEndpoints) =>
  path.length <= maxPath && path !== '/' && methodsOf(`/v1${path}`).length > 0

/** Finds the hint for a path that is an endpoint with other methods, or under another base URL. */
function findPath(path: string, { methodsOf }: KnownEndpoints): string | undefined {
  const methods = methodsOf(path)
  if (methods.length > 0) return `${path} takes ${methods.join(', ')}.`
  // As OpenRouter has its endpoints.
  const ofModel = path.replace(/^\/api(?=\/v1\/)/, '')
  return ofModel !== path && methodsOf(ofModel).length > 0
    ? `The base URL of this service ends in /v1, without /api: use ${ofModel}.`
    : undefined
}

/** Names the nearest endpoints of models where some are near, else all. */
function describeEndpoints(path: string, { ofModels }: KnownEndpoints): string | undefined {
  if (/^\/v(?:1(?:beta\d*|alpha)?|2)(?:\/|$)/.test(path)) {
    const nearest = findNearestEndpoints(path, [...new Set(ofModels.map((one) => one.path))])
    const near = ofModels.filter((endpoint) => nearest.includes(endpoint.path))
    const sentence =
      near.length === 0
        ? `There are ${toText(ofModels)}.`
        : `The nearest endpoint${near.length === 1 ? ' is' : 's are'} ${toText(near)}.`
    return `${sentence} /openapi.json describes all endpoints.`
  }
  return /^\/api(?:\/|$)/.test(path) && !operatorPath.test(path)
    ? '/openapi.json describes all endpoints.'
    : undefined
}

const notFound = (hint: string | undefined) =>
  new ApiError('resource_not_found', {
    message: hint === undefined ? notFoundMessage : `${notFoundMessage} ${hint}`,
  })
