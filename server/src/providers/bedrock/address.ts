/** The domain of a partition of AWS, by how its regions begin. */
const domains: readonly (readonly [prefix: string, domain: string])[] = [
  ['cn-', 'amazonaws.com.cn'],
  ['us-iso-', 'c2s.ic.gov'],
  ['us-isob-', 'sc2s.sgov.gov'],
  ['us-isof-', 'csp.hci.ic.gov'],
  ['eu-isoe-', 'cloud.adc-e.uk'],
  ['eusc-', 'amazonaws.eu'],
]

const domainOf = (region: string) =>
  domains.find(([prefix]) => region.startsWith(prefix))?.[1] ?? 'amazonaws.com'

/** The name of a partition in ARNs, by how its regions begin. */
const partitions: readonly (readonly [prefix: string, name: string])[] = [
  ['cn-', 'aws-cn'],
  ['us-gov-', 'aws-us-gov'],
  ['us-iso-', 'aws-iso'],
  ['us-isob-', 'aws-iso-b'],
  ['us-isof-', 'aws-iso-f'],
  ['eu-isoe-', 'aws-iso-e'],
  ['eusc-', 'aws-eusc'],
]

/** Returns the name of a region's partition in ARNs. */
export const partitionOf = (region: string): string =>
  partitions.find(([prefix]) => region.startsWith(prefix))?.[1] ?? 'aws'

/** Returns the address of a region's models, without final slash. */
export const baseUrlOf = (region: string): string =>
  `https://bedrock-runtime.${region}.${domainOf(region)}`

/** The region that an address names; undefined for a private endpoint with a name of its own. */
export function parseRegion(baseUrl: string): string | undefined {
  const runtime = /\/\/(?:vpce-[\w-]+\.)?bedrock-(?:agent-)?runtime(?:-fips)?\.([a-z0-9-]+)\./.exec(
    baseUrl,
  )
  // The address of the list of models; many other hosts could have such a name.
  const list = /\/\/bedrock(?:-fips)?\.([a-z]+(?:-[a-z]+)+-\d+)\./.exec(baseUrl)
  return (runtime ?? list)?.[1]
}

/** Returns the address of a region's list of models; undefined for an address that is not a region's own. */
export function listUrlOf(baseUrl: string): string | undefined {
  const isOwn = /^https:\/\/bedrock-runtime(?:-fips)?\.[a-z0-9-]+\.[a-z0-9.-]+$/.test(baseUrl)
  return isOwn
    ? `${baseUrl.replace('//bedrock-runtime', '//bedrock')}/foundation-models`
    : undefined
}

/** An id, with an inference profile's prefix or not, or an ARN, which holds slashes and colons. */
export const pathOf = (upstreamModel: string, operation: 'converse-stream' | 'invoke'): string =>
  `/model/${encodeURIComponent(upstreamModel)}/${operation}`

const profilePrefix = /^(?:us-gov|us|eu|apac|jp|au|ca|in|sa|global)\./

/**
 * The model behind an id: without the place where its inference profile runs, and without the ARN
 * around it. An ARN of an application’s own profile names no model, only itself.
 */
export function toBaseModel(upstreamModel: string): string {
  const id = upstreamModel.startsWith('arn:')
    ? (/\/([^/]+)$/.exec(upstreamModel)?.[1] ?? upstreamModel)
    : upstreamModel
  return id.replace(profilePrefix, '')
}
