import { AwsV4Signer } from 'aws4fetch'

/** A long-lived key pair, or a temporary one with its session token. */
export interface AwsKeys {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string | undefined
}

/** The signed parts of a request, which must then be sent exactly so, and within five minutes. */
export interface UnsignedRequest {
  method: string
  url: string
  headers: Readonly<Record<string, string>>
  body: string
  region: string
  /** `bedrock`, also for the host `bedrock-runtime`. */
  service: string
}

/** The headers of a request with its Signature Version 4; all that were given are signed. */
export async function signHeaders(
  { method, url, headers, body, region, service }: UnsignedRequest,
  { accessKeyId, secretAccessKey, sessionToken }: AwsKeys,
  now: Date,
): Promise<Record<string, string>> {
  const signer = new AwsV4Signer({
    method,
    url,
    headers: { ...headers },
    body,
    region,
    service,
    accessKeyId,
    secretAccessKey,
    ...(sessionToken !== undefined && { sessionToken }),
    datetime: now.toISOString().replaceAll(/[-:]|\.\d{3}/g, ''),
    allHeaders: true,
  })
  const signed = await signer.sign()
  return Object.fromEntries(signed.headers)
}
