import type { ListedFacts } from './listed-model'
import type { Model } from '../catalog/model'
import type { Snapshot } from '../catalog/snapshot'

/** Retirements come with a day of UTC. */
const dayMs = 86_400_000

/**
 * Models as JSON, in the format of one kind of client. A list has thousands of them, so that each is encoded once in a
 * snapshot of the catalogue, and a list that all accounts without connections share once.
 */
export class EncodedModels {
  readonly #toRow: (model: ListedFacts, snapshot: Snapshot) => object
  #day = Number.NaN
  #rows = new WeakMap<Snapshot, WeakMap<ListedFacts, string>>()
  #lists = new WeakMap<readonly Model[], string>()

  constructor(toRow: (model: ListedFacts, snapshot: Snapshot) => object) {
    this.#toRow = toRow
  }

  /** Encodes one model. */
  row(model: ListedFacts, snapshot: Snapshot): string {
    this.#expire()
    let rows = this.#rows.get(snapshot)
    if (!rows) this.#rows.set(snapshot, (rows = new WeakMap()))
    let row = rows.get(model)
    if (row === undefined) {
      row = JSON.stringify(this.#toRow(model, snapshot))
      rows.set(model, row)
    }
    return row
  }

  /** Encodes models without brackets around them, in the order that `inOrder` gives them. */
  list(
    models: readonly Model[],
    snapshot: Snapshot,
    inOrder: (models: readonly Model[]) => readonly Model[],
  ): string {
    this.#expire()
    let list = this.#lists.get(models)
    if (list === undefined) {
      list = inOrder(models)
        .map((model) => this.row(model, snapshot))
        .join()
      this.#lists.set(models, list)
    }
    return list
  }

  #expire(): void {
    const day = Math.floor(Date.now() / dayMs)
    if (day === this.#day) return
    this.#day = day
    this.#rows = new WeakMap()
    this.#lists = new WeakMap()
  }
}
