import { getSurface } from './address'
import { toModelPath } from '../google/model-name'
import { toGoogleError } from '../google/failure'
import { isObject } from '../../wire/json-body'
import type { UpstreamFailure } from '../upstream-error'
import type { Adapter } from '../adapter'
import { findImageAddresses, withData } from '../media'

/** The format of Anthropic's bodies there. https://docs.anthropic.com/en/api/claude-on-vertex-ai */
const version = 'vertex-2023-10-16'

/**
 * Anthropic's adapter for its models on Vertex: the version is in the body, the model in the path, and
 * a refusal may be one of Google's instead of Anthropic's.
 */
export const anthropicOnVertex = (anthropic: Adapter): Adapter => ({
  ...anthropic,
  // There images are data only. https://docs.anthropic.com/en/docs/build-with-claude/vision
  addresses: (chat) => findImageAddresses(chat, () => false),

  request(chat, target) {
    const { model } = getSurface(target.upstreamModel)
    const resolvedChat = withData(chat, target.media)
    const {
      headers = {},
      body,
      omitted,
    } = anthropic.request(resolvedChat, { ...target, upstreamModel: model })
    const { model: _model, ...rest } = body
    const { 'anthropic-version': _version, ...others } = headers
    const verb = body['stream'] === true ? 'streamRawPredict' : 'rawPredict'
    return {
      path: `/publishers/anthropic/models/${toModelPath(model)}:${verb}`,
      ...(Object.keys(others).length > 0 && { headers: others }),
      body: { anthropic_version: version, ...rest },
      omitted,
    }
  },

  toError(failure, source) {
    if (isGoogles(failure)) return toGoogleError(failure, source)
    return anthropic.toError(failure, source)
  },
})

/** Google's errors have a `status` in words, Anthropic's a `type`. */
function isGoogles({ body }: UpstreamFailure): boolean {
  const outer: unknown = Array.isArray(body) ? body[0] : body
  const error = isObject(outer) ? outer['error'] : undefined
  return isObject(error) && typeof error['status'] === 'string'
}
