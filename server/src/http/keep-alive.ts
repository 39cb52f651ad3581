/** Above the 60 s for which load balancers keep a connection, so that they never use one just closed here. */
export const keepAliveSeconds = 75

/** The runtime looks for idle connections every few seconds, and a request may be on its way when it closes one. */
const marginSeconds = 5

const announced = `timeout=${keepAliveSeconds - marginSeconds}`

/** Tells the client how long its connection may be idle, so that it sends no request on one that is about to close. */
export function announceKeepAlive(headers: Headers): void {
  if (!headers.has('connection')) headers.set('keep-alive', announced)
}

/** Has the runtime close the connection after the response. */
export function closeConnection(headers: Headers): void {
  headers.set('connection', 'close')
  headers.delete('keep-alive')
}
