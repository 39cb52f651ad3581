/** The server, and the database that a client uses there. */
export interface ClickHouseAddress {
  /** Without path, user and final slash. */
  origin: string
  user: string
  password: string
  database: string
}

/** Reads `https://user:password@host:8443/database`; a part that is missing has the server's default. */
export function parseClickHouseUrl(text: string): ClickHouseAddress {
  const url = new URL(text)
  return {
    origin: url.origin,
    user: decodeURIComponent(url.username) || 'default',
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)) || 'default',
  }
}

const databaseName = /^\w{1,100}$/
/** Fields of HTTP carry nothing else. */
const headerText = /^([!-~]([ -~]*[!-~])?)?$/

/** Whether a URL names at most a database as its path, and a user and password that can be sent. */
export function isClickHouseUrl(text: string): boolean {
  try {
    const { search, hash } = new URL(text)
    const { user, password, database } = parseClickHouseUrl(text)
    const canBeSent = headerText.test(user) && headerText.test(password)
    return search === '' && hash === '' && canBeSent && databaseName.test(database)
  } catch {
    return false
  }
}
