import { describe, expect, test } from 'bun:test'
import { readCredential, withCredential } from './credentials'
import { signHeaders } from './sign'

/** The key, the time and the scope of AWS's own test suite. */
const keys = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
}
const now = new Date('2015-08-30T12:36:00Z')
const sessionToken =
  'AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=='

const post = { method: 'POST', query: '', headers: {}, body: '', signed: 'host;x-amz-date' }

/** Source: AWS, aws-sig-v4-test-suite, by the names that the suite gives them. */
const vectors = {
  'get-vanilla': {
    ...post,
    method: 'GET',
    signature: '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  },
  'get-vanilla-query-order-key-case': {
    ...post,
    method: 'GET',
    query: '?Param2=value2&Param1=value1',
    signature: 'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  },
  'post-vanilla': {
    ...post,
    signature: '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
  },
  'post-header-value-case': {
    ...post,
    headers: { 'My-Header1': 'VALUE1' },
    signed: 'host;my-header1;x-amz-date',
    signature: 'cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d',
  },
  'post-x-www-form-urlencoded': {
    ...post,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'Param1=value1',
    signed: 'content-type;host;x-amz-date',
    signature: 'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  },
}

const unsigned = ({ query, ...rest }: Omit<typeof post, 'signed'>) => ({
  ...rest,
  url: `https://example.amazonaws.com/${query}`,
  region: 'us-east-1',
  service: 'service',
})

const authorization = (signed: string, signature: string) =>
  `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=${signed}, Signature=${signature}`

describe('AWS’s own examples', () => {
  test.each(Object.entries(vectors))('%s', async (_name, vector) => {
    const signedHeaders = await signHeaders(unsigned(vector), keys, now)
    expect(signedHeaders['authorization']).toBe(authorization(vector.signed, vector.signature))
    expect(signedHeaders['x-amz-date']).toBe('20150830T123600Z')
  })

  test('post-sts-header-before: a session token is signed too', async () => {
    const signedHeaders = await signHeaders(unsigned(post), { ...keys, sessionToken }, now)
    expect(signedHeaders['x-amz-security-token']).toBe(sessionToken)
    expect(signedHeaders['authorization']).toBe(
      authorization(
        'host;x-amz-date;x-amz-security-token',
        '85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead',
      ),
    )
  })
})

describe('a request to Bedrock', () => {
  const request = {
    url: 'https://bedrock-runtime.eu-west-1.amazonaws.com/model/eu.amazon.nova-lite-v1%3A0/converse-stream',
    headers: { 'content-type': 'application/json', 'accept-encoding': 'identity' },
    body: '{"messages":[]}',
  }

  test('is signed for the service and its region, with the headers that are sent', async () => {
    const signedHeaders = await withCredential(request, keys, now)
    expect(signedHeaders).toMatchObject(request.headers)
    expect(signedHeaders['authorization']).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/20150830\/eu-west-1\/bedrock\/aws4_request, SignedHeaders=accept-encoding;content-type;host;x-amz-date, Signature=[0-9a-f]{64}$/,
    )
    // Worked out by hand: AWS encodes the path a second time, so that `%3A` is signed as `%253A`.
    expect(signedHeaders['authorization']).toEndWith(
      await byHand(request, signedHeaders['x-amz-date'] ?? ''),
    )
  })

  test('to an address without a region is signed for the configured one', async () => {
    const customRequest = { ...request, url: 'https://bedrock.example.com/model/x/invoke' }
    const scopeOf = async (region?: string) =>
      /\/20150830\/([^/]+)\//.exec(
        (await withCredential({ ...customRequest, region }, keys, now))['authorization'] ?? '',
      )?.[1]
    expect(await scopeOf('ap-south-1')).toBe('ap-south-1')
    expect(await scopeOf()).toBe('us-east-1')
  })

  test('takes a bearer key as it is', async () => {
    const headers = await withCredential(request, { bearer: 'ABSKfoo=' }, now)
    expect(headers).toEqual({ ...request.headers, authorization: 'Bearer ABSKfoo=' })
  })
})

const sha256 = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string) =>
  new Bun.CryptoHasher('sha256', key).update(text).digest()

/** The recipe of the documentation, step by step, for the request above. */
async function byHand(request: { url: string; body: string }, date: string) {
  const canonical = [
    'POST',
    '/model/eu.amazon.nova-lite-v1%253A0/converse-stream',
    '',
    'accept-encoding:identity',
    'content-type:application/json',
    `host:${new URL(request.url).host}`,
    `x-amz-date:${date}`,
    '',
    'accept-encoding;content-type;host;x-amz-date',
    sha256(request.body),
  ].join('\n')
  const scope = `20150830/eu-west-1/bedrock/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n')
  const steps = ['20150830', 'eu-west-1', 'bedrock', 'aws4_request', toSign]
  return steps
    .reduce<Buffer | string>((key, step) => hmac(key, step), `AWS4${keys.secretAccessKey}`)
    .toString('hex')
}

describe('the secret of a connection', () => {
  test.each([
    [
      'AKIAIOSFODNN7EXAMPLE:wJalr/K7+x',
      { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalr/K7+x' },
    ],
    [
      'ASIAIOSFODNN7EXAMPLE:s:t==',
      { accessKeyId: 'ASIAIOSFODNN7EXAMPLE', secretAccessKey: 's', sessionToken: 't==' },
    ],
    [
      '{"access_key_id":"AKIAIOSFODNN7EXAMPLE","secret_access_key":"s"}',
      { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 's' },
    ],
    ['ABSKQmVkcm9ja0FQSUtleS1hYmM6ZGVm', { bearer: 'ABSKQmVkcm9ja0FQSUtleS1hYmM6ZGVm' }],
    ['bedrock-api-key-abc:def', { bearer: 'bedrock-api-key-abc:def' }],
    ['{not json', { bearer: '{not json' }],
  ])('%s', (secret, credential) => expect(readCredential(secret)).toEqual(credential))
})

test('a connection’s request is signed as the method that it has', async () => {
  const url = 'https://bedrock.eu-west-1.amazonaws.com/foundation-models'
  const request = { method: 'GET', url, headers: { accept: '*/*' }, body: '' } as const
  const place = { region: 'eu-west-1', service: 'bedrock' }
  const signed = await withCredential(request, keys, now)
  const expected = await signHeaders({ ...request, ...place }, keys, now)
  expect(signed).toEqual(expected)
})
