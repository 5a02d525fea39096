package dev.interlock.benchmarks.pages;

/**
 * A chart, and what it says.
 *
 * @param name of the file, without its ending
 * @param plot what is drawn
 * @param meaning a paragraph that also tells where ours is behind
 */
record Chart(String name, Plot plot, String meaning) {

    /** Within the folder of the pages. */
    String file() {
        return "charts/" + name + ".png";
    }

    /** From the folder of the pages. */
    String image() {
        return image("");
    }

    /** From where that folder lies under a path. */
    String image(String path) {
        return "![" + title() + "](" + path + file() + ")";
    }

    String title() {
        return plot.title();
    }
}
