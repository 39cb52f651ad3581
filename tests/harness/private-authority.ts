import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A certificate and its private key; PEM. */
export interface Issued {
  certificate: string
  key: string
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

/** A certificate authority that no system trusts, made for one test file. */
export class PrivateAuthority implements Disposable {
  readonly certificate: string
  readonly #directory = mkdtempSync(join(tmpdir(), 'authority-'))

  constructor(name: string) {
    const extension = ['-addext', 'basicConstraints=critical,CA:true']
    const files = ['-keyout', this.#path('ca.key'), '-out', this.#path('ca.pem')]
    this.#run(['req', '-x509', ...newKey, ...files, '-subj', `/CN=${name}`, ...extension])
    this.certificate = readFileSync(this.#path('ca.pem'), 'utf8')
  }

  /** Issues a certificate for a name such as `IP:127.0.0.2` or `DNS:one.example`. */
  issue(commonName: string, alternativeName: string): Issued {
    const files = ['-keyout', this.#path('one.key'), '-out', this.#path('one.csr')]
    this.#run(['req', ...newKey, ...files, '-subj', `/CN=${commonName}`])
    writeFileSync(this.#path('extensions'), `subjectAltName = ${alternativeName}\n`)
    const authority = ['-CA', this.#path('ca.pem'), '-CAkey', this.#path('ca.key')]
    const request = ['-in', this.#path('one.csr'), '-extfile', this.#path('extensions')]
    const certificate = this.#run(['x509', '-req', ...request, ...authority, '-CAcreateserial'])
    return { certificate, key: readFileSync(this.#path('one.key'), 'utf8') }
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true })
  }

  #path(file: string): string {
    return join(this.#directory, file)
  }

  #run(words: readonly string[]): string {
    return execFileSync('openssl', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  }
}
