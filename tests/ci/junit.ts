import { DOMParser, type Element } from '@xmldom/xmldom'

/** A test that failed, of a JUnit report. */
export interface Failure {
  /** From the root of the repository. */
  file: string
  /** With the names of its `describe`s; `(unnamed)` is a hook. */
  test: string
  /** The class of the error: `AssertionError` of an `expect`, `TimeoutError` of the runner. */
  type: string
  /** Message and stack as the runner wrote them. */
  text: string
}

/** The result of a test file. */
export interface FileResult {
  file: string
  seconds: number
}

/** The sums of one or several JUnit reports. */
export interface Report {
  passed: number
  failed: number
  skipped: number
  failures: Failure[]
  files: FileResult[]
}

export const emptyReport = (): Report => ({
  passed: 0,
  failed: 0,
  skipped: 0,
  failures: [],
  files: [],
})

/** Parses a JUnit report of `bun test`. Throws where the text is no XML. */
export function parseReport(xml: string): Report {
  const report = emptyReport()
  const document = new DOMParser({ onError }).parseFromString(xml, 'text/xml')
  for (const suite of document.getElementsByTagName('testsuite')) {
    // A `describe` is a suite within that of its file.
    if (suite.parentElement?.tagName === 'testsuite') continue
    report.files.push({
      file: suite.getAttribute('file') ?? '',
      seconds: Number(suite.getAttribute('time')),
    })
  }
  for (const test of document.getElementsByTagName('testcase')) addTest(report, test)
  return report
}

/** Names of tests have characters that the parser warns of. */
function onError(level: string, message: string): void {
  if (level !== 'warning') throw new Error(message)
}

function addTest(report: Report, test: Element): void {
  const failure = test.getElementsByTagName('failure')[0]
  if (!failure) {
    report[test.getElementsByTagName('skipped').length > 0 ? 'skipped' : 'passed'] += 1
    return
  }
  report.failed += 1
  report.failures.push({
    file: test.getAttribute('file') ?? '',
    test: nameOf(test),
    type: failure.getAttribute('type') ?? 'Error',
    text: failure.textContent?.trim() || (failure.getAttribute('message') ?? ''),
  })
}

const nameOf = (test: Element) =>
  [test.getAttribute('classname'), test.getAttribute('name')].filter(Boolean).join(' > ')

/** Sums reports; files keep their order. */
export function sumReports(reports: readonly Report[]): Report {
  const sum = emptyReport()
  for (const { passed, failed, skipped, failures, files } of reports) {
    sum.passed += passed
    sum.failed += failed
    sum.skipped += skipped
    sum.failures.push(...failures)
    sum.files.push(...files)
  }
  return sum
}

/**
 * Finds the files that could not be loaded in the output of `bun test`, which its JUnit report lacks. Each is named by its
 * stack, below `root`.
 */
export function findUnloaded(output: string, root: string): Failure[] {
  const lines = output.split('\n')
  return lines.flatMap((line, index) => {
    if (line !== '# Unhandled error between tests') return []
    const rule = lines[index + 1] ?? ''
    const text = lines
      .slice(index + 2, lines.indexOf(rule, index + 2))
      .join('\n')
      .trim()
    const path = [...text.matchAll(/(\S+\.test\.tsx?):\d+/g)].at(-1)?.[1] ?? '(a file)'
    const file = path.replace(`${root}/`, '')
    return [{ file, test: '(loading the file)', type: 'Error', text }]
  })
}
