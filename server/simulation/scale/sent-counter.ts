import type { RegionalDatabase } from './regional-database'
import type { SliceCallCounts } from './regional-slice-store'
import type { StatementKind } from '../statements'

/** Messages to the database and to the store of limits. */
export interface Sent {
  /** Statements, and transactions of bookings, by kind. */
  statements: ReadonlyMap<StatementKind, number>
  slices: SliceCallCounts
  /** Notifications, one for each node that receives it. */
  notifications: number
}

/** Counts what nodes send. */
export class SentCounter {
  readonly #database: Pick<RegionalDatabase, 'messages'>
  readonly #statements = new Map<StatementKind, number>()
  readonly slices: SliceCallCounts = { read: 0, write: 0, recall: 0, beat: 0 }

  constructor(database: Pick<RegionalDatabase, 'messages'>) {
    this.#database = database
  }

  readonly onStatement = (kind: StatementKind): void => {
    this.#statements.set(kind, (this.#statements.get(kind) ?? 0) + 1)
  }

  /** Returns the counts so far, less earlier ones. */
  since(before?: Sent): Sent {
    const { slices, notifications } = before ?? { slices: undefined, notifications: 0 }
    return {
      statements: new Map(
        [...this.#statements].map(([kind, count]) => [
          kind,
          count - (before?.statements.get(kind) ?? 0),
        ]),
      ),
      slices: {
        read: this.slices.read - (slices?.read ?? 0),
        write: this.slices.write - (slices?.write ?? 0),
        recall: this.slices.recall - (slices?.recall ?? 0),
        beat: this.slices.beat - (slices?.beat ?? 0),
      },
      notifications: this.#database.messages - notifications,
    }
  }
}
