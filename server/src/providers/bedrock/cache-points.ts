import type { CachePoints } from './families'
import { fitBreakpoints, maxBreakpoints, type CacheControl } from '../../wire/cache-control'
import { isObject, type JsonObject } from '../../wire/json-body'

type Block = JsonObject

/**
 * Returns the block for a breakpoint, which stands behind the content that it covers; none for a model
 * that would refuse it.
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_CachePointBlock.html
 */
export function toCachePoints(
  control: CacheControl | undefined,
  accepted: CachePoints | undefined,
): Block[] {
  if (!control || !accepted) return []
  return [toCachePoint(accepted.hour ? control : { type: control.type })]
}

const toCachePoint = ({ ttl }: CacheControl): Block => ({
  cachePoint: { type: 'default', ...(ttl && { ttl }) },
})

export const isCachePoint = (block: Block): boolean => 'cachePoint' in block

/** Returns the lists of blocks, in the order of the prompt, with the breakpoints that the provider takes. */
export function fitCachePoints(lists: readonly (readonly Block[])[]): Block[][] {
  const fitting = fitBreakpoints(lists.flat().filter(isCachePoint).map(toControl), maxBreakpoints)
  let position = 0
  return lists.map((blocks) =>
    blocks.flatMap((block) => {
      if (!isCachePoint(block)) return [block]
      const control = fitting[position]
      position += 1
      return control ? [toCachePoint(control)] : []
    }),
  )
}

function toControl({ cachePoint }: Block): CacheControl {
  const ttl = isObject(cachePoint) ? cachePoint['ttl'] : undefined
  return ttl === '1h' || ttl === '5m' ? { type: 'ephemeral', ttl } : { type: 'ephemeral' }
}
