/**
 * Loaded before a gateway: at SIGUSR2 it has an uncaught error, or an unhandled
 * rejection where `FAULT` is `reject`.
 */
process.on('SIGUSR2', () => {
  if (process.env['FAULT'] === 'reject') void Promise.reject(new Error('a fault of the test'))
  else {
    setTimeout(() => {
      throw new Error('a fault of the test')
    })
  }
})
