// The report of `ballast simulate --report`: draws the data that stands in the page.
import { render } from 'preact';
import 'uplot/dist/uPlot.min.css';
import { visible } from '../charts/visible';
import '../charts/charts.css';
import './report.css';
import { parseReport, type Report, type TableData } from './data';
import { Plots } from './plots';

function Tiles({ report }: { report: Report }) {
  return (
    <ul class={report.runs.length > 1 ? 'tiles two' : 'tiles'}>
      {report.tiles.map((t) => (
        <li key={t.what}>
          {t.what}
          <b>{t.value}</b>
          <small>{t.note}</small>
        </li>
      ))}
    </ul>
  );
}

function Rows({ table }: { table: TableData }) {
  const better = table.columns.indexOf('better') - 1;
  return (
    <div class="scroll" role="region" aria-label={table.caption} tabIndex={0}>
      <table>
        <caption>{table.caption}</caption>
        <thead>
          <tr>{table.columns.map((c) => <th scope="col" key={c}>{c}</th>)}</tr>
        </thead>
        <tbody>
          {table.rows.map((r, i) =>
            'group' in r ? (
              <tr class="group" key={i}>
                <th scope="rowgroup" colSpan={table.columns.length}>{r.group}</th>
              </tr>
            ) : (
              <tr class={r.differs ? 'differs' : ''} key={i}>
                <th scope="row">
                  {r.head}
                  {r.note !== null && <small>{r.note}</small>}
                </th>
                {r.cells.map((c, k) => <td key={k} class={k === better ? 'better' : ''}>{c}</td>)}
              </tr>
            ),
          )}
        </tbody>
      </table>
    </div>
  );
}

function Tables({ tables }: { tables: TableData[] }) {
  return (
    <>
      {tables.map((t, i) => (
        <section key={i}>
          {t.heading !== tables[i - 1]?.heading && <h2>{t.heading}</h2>}
          {t.summary === null ? (
            <Rows table={t} />
          ) : (
            <details>
              <summary>{t.summary}</summary>
              <Rows table={t} />
            </details>
          )}
        </section>
      ))}
    </>
  );
}

function Page({ report }: { report: Report }) {
  return (
    <>
      <header>
        <h1>{report.title}</h1>
        {report.about.map((text) => <p key={text}>{text}</p>)}
        {report.notes.map((text) => <p class="soft" key={text}>{text}</p>)}
      </header>
      <Tiles report={report} />
      <h2>Over time</h2>
      <p class="soft">
        Times are those of the scenario's clock, in UTC. Point at a plot to read its values, or reach it with the Tab key and use the arrow
        keys.
      </p>
      <Plots report={report} />
      <Tables tables={report.tables} />
    </>
  );
}

const report = parseReport(document.getElementById('data')?.textContent ?? '');
const page = document.getElementById('page') as HTMLElement;
if (typeof report === 'string') {
  render(<p>{report}</p>, page);
} else {
  document.title = `${visible(report.title)} - simulated by Ballast`;
  render(<Page report={report} />, page);
}
