/**
 * Loaded before a gateway: at SIGUSR2 it has an error that nobody catches, or a rejection that nobody
 * handles where `FAULT` is `reject`.
 */
process.on('SIGUSR2', () => {
  if (process.env['FAULT'] === 'reject') void Promise.reject(new Error('a fault of the test'))
  else {
    setTimeout(() => {
      throw new Error('a fault of the test')
    })
  }
})
