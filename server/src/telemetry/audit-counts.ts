/** Findings of the ledger's audit, in the runs that this node made. */
export class AuditCounts {
  runs = 0
  /** Of the last run. */
  violations = 0

  countRun(violations: number): void {
    this.runs++
    this.violations = violations
  }
}
