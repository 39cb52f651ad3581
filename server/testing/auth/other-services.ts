/** The key of Google's double, which signs its ID tokens. */
const keyPair = crypto.subtle.generateKey(
  {
    name: 'RSASSA-PKCS1-v1_5',
    modulusLength: 2048,
    publicExponent: new Uint8Array([1, 0, 1]),
    hash: 'SHA-256',
  },
  true,
  ['sign', 'verify'],
)
const kid = 'test-key'

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** An ID token of Google's double for an address. */
export async function googleToken(email: string): Promise<string> {
  const iat = Math.floor(Date.now() / 1000)
  const claims = {
    iss: 'https://accounts.google.com',
    aud: 'client',
    sub: `google-${email}`,
    email,
    email_verified: true,
    name: 'Ada',
    iat,
    exp: iat + 600,
  }
  const signed = `${encode({ alg: 'RS256', kid, typ: 'JWT' })}.${encode(claims)}`
  const { privateKey } = await keyPair
  const signature = await crypto.subtle.sign('RSASSA-PKCS1-v1_5', privateKey, Buffer.from(signed))
  return `${signed}.${Buffer.from(signature).toString('base64url')}`
}

/** Answers as GitHub and Google do, for one person with an address, which `isConfirmed` there. */
export async function otherServices(email: string, isConfirmed = true): Promise<typeof fetch> {
  const { publicKey } = await keyPair
  const jwk = await crypto.subtle.exportKey('jwk', publicKey)
  const answers: Readonly<Record<string, object>> = {
    'https://github.com/login/oauth/access_token': { access_token: 'token', token_type: 'bearer' },
    'https://api.github.com/user': { id: Bun.hash.crc32(email), login: 'ada', name: 'Ada', email },
    'https://api.github.com/user/emails': [{ email, primary: true, verified: isConfirmed }],
    'https://www.googleapis.com/oauth2/v3/certs': {
      keys: [{ ...jwk, kid, alg: 'RS256', use: 'sig' }],
    },
  }
  const answer = (input: string | URL | Request) => {
    const url = input instanceof Request ? input.url : String(input)
    const body = answers[url]
    return Promise.resolve(body ? Response.json(body) : new Response(null, { status: 404 }))
  }
  return Object.assign(answer, { preconnect: () => undefined })
}
