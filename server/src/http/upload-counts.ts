/** Counts the forms with files that this process receives. */
export class UploadCounts {
  #arriving = 0
  #bytes = 0
  #received = 0
  #rejected = 0

  begin(): void {
    this.#arriving += 1
  }

  /** Counts bytes as they arrive, those of forms that are rejected later too. */
  add(bytes: number): void {
    this.#bytes += bytes
  }

  end(isReceived: boolean): void {
    this.#arriving -= 1
    if (isReceived) this.#received += 1
    else this.#rejected += 1
  }

  figures() {
    return {
      arriving: this.#arriving,
      bytes: this.#bytes,
      received: this.#received,
      rejected: this.#rejected,
    }
  }
}
